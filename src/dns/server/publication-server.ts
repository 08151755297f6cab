/**
 * The publications of the companion worker, in the first listener thread. An HTTP server receives
 * them (`src/dns/replication/listener-protocol.ts`); the other threads get them by thread calls.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { MessagePort } from "node:worker_threads";
import { externalPath, publicationPath, secretHeader } from "../replication/listener-protocol.ts";
import type { Publication } from "../replication/publication.ts";
import { isSameSecret } from "../wire/bytes.ts";
import type { ExternalQuestion, ResolveExternal } from "../answer/external-addresses.ts";
import { ThreadCaller } from "./thread-calls.ts";

/** Resolves when queries are answered from the published state. */
export type ApplyPublications = (publications: readonly Publication[]) => Promise<void>;

export interface PublicationServer {
  /** `host:port` */
  readonly address: string;
  stop(): void;
}

export async function startPublicationServer(options: {
  readonly secret: string;
  readonly apply: ApplyPublications;
  readonly resolve: ResolveExternal;
}): Promise<PublicationServer> {
  const { secret, apply, resolve } = options;
  const handle = async (request: IncomingMessage): Promise<string | null> => {
    const given = Buffer.from(String(request.headers[secretHeader]));
    if (!isSameSecret(Buffer.from(secret), given)) throw new Error("wrong secret");
    const body = await json(request);
    if (request.url === publicationPath) {
      await apply(body as readonly Publication[]);
      return null;
    }
    if (request.url === externalPath)
      return JSON.stringify(await resolve(body as ExternalQuestion));
    throw new Error(`nothing at ${request.url}`);
  };
  const server = createServer((request, response) => {
    handle(request).then(
      (body) => (body === null ? response.writeHead(204).end() : response.end(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  // The worker could send on a connection just when an idle timeout closes it.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param ports to the other threads, which serve `apply` */
export function forwardPublications(ports: readonly MessagePort[]): ApplyPublications {
  const threads = ports.map((port) => new ThreadCaller<{ apply: ApplyPublications }>(port));
  return async (publications) => {
    // A thread reports its own failures. A thread that has ended answers no queries.
    await Promise.allSettled(threads.map((thread) => thread.call("apply", publications)));
  };
}
