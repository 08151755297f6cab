/** The listeners' half of `src/dns/replication/protocol.ts`: takes what the companion worker says. */
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { outsidePath, publicationPath, secretHeader } from "../replication/protocol.ts";
import type { Publication } from "../replication/publication.ts";
import type { ExternalQuestion, ExternalResult } from "../answer/external-addresses.ts";

export interface PublicationServerOptions {
  readonly secret: string;
  readonly take: (publications: readonly Publication[]) => Promise<void>;
  readonly resolve: (question: ExternalQuestion) => Promise<ExternalResult>;
}

export class PublicationServer {
  readonly #options: PublicationServerOptions;
  readonly #server: Server;

  constructor(options: PublicationServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request).then(
        (body) => (body === null ? response.writeHead(204).end() : response.end(body)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    // A connection that was closed for being idle could be just the one that the worker picks.
    this.#server.keepAliveTimeout = 0;
  }

  async start(): Promise<{ address: string }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return { address: `127.0.0.1:${(this.#server.address() as AddressInfo).port}` };
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage): Promise<string | null> {
    if (!this.#isKnown(request.headers[secretHeader])) throw new Error("wrong secret");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
    if (request.url === publicationPath) {
      await this.#options.take(body as readonly Publication[]);
      return null;
    }
    if (request.url === outsidePath) {
      return JSON.stringify(await this.#options.resolve(body as ExternalQuestion));
    }
    throw new Error(`nothing at ${request.url}`);
  }

  #isKnown(secret: unknown): boolean {
    const [given, expected] = [Buffer.from(String(secret)), Buffer.from(this.#options.secret)];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
