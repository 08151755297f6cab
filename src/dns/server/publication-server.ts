/** The HTTP server for the companion worker (`src/dns/replication/listener-protocol.ts`). */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { externalPath, publicationPath, secretHeader } from "../replication/listener-protocol.ts";
import type { Publication } from "../replication/publication.ts";
import { isSameSecret } from "../wire/bytes.ts";
import type { ExternalQuestion } from "../answer/external-addresses.ts";
import type { ResolveExternal } from "../answer/external-resolution.ts";

export interface PublicationServerOptions {
  readonly secret: string;
  readonly apply: (publications: readonly Publication[]) => Promise<void>;
  readonly resolve: ResolveExternal;
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
    // The worker could send on a connection just when an idle timeout closes it.
    this.#server.keepAliveTimeout = 0;
  }

  /** Returns the address of the server, `host:port`. */
  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage): Promise<string | null> {
    const secret = Buffer.from(String(request.headers[secretHeader]));
    if (!isSameSecret(Buffer.from(this.#options.secret), secret)) throw new Error("wrong secret");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
    if (request.url === publicationPath) {
      await this.#options.apply(body as readonly Publication[]);
      return null;
    }
    if (request.url === externalPath) {
      return JSON.stringify(await this.#options.resolve(body as ExternalQuestion));
    }
    throw new Error(`nothing at ${request.url}`);
  }
}
