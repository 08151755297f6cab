/**
 * The publications of the companion worker, in the first listener thread. An HTTP server receives
 * them (`src/dns/replication/listener-protocol.ts`); the other threads get them by thread calls. The
 * server listens on loopback, and answers only requests with the secret of this start.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "../../base/node-http.ts";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { MessagePort } from "node:worker_threads";
import { loopbackOnly, refuseRequest } from "../../base/host-rule.ts";
import {
  externalPath,
  logPath,
  observationPath,
  publicationPath,
  queriesPath,
  secretHeader,
} from "../replication/listener-protocol.ts";
import type { Publication } from "../replication/publication.ts";
import { isSameSecret } from "../wire/bytes.ts";
import type { ExternalQuestion, ResolveExternal } from "../answer/external-addresses.ts";
import type { Observation, LoggedQuery } from "../fault/observed-queries.ts";
import type { QueryCount } from "../rules/query-report.ts";
import { ThreadCaller } from "./thread-calls.ts";

/** Resolves when queries are answered from the published state. */
type ApplyPublications = (publications: readonly Publication[]) => Promise<void>;

export interface PublicationServer {
  /** `host:port` */
  readonly address: string;
  stop(): void;
}

export interface PublicationServerOptions {
  /** Default: any port */
  readonly port?: number;
  readonly secret: string;
  readonly apply: ApplyPublications;
  readonly resolve: ResolveExternal;
  readonly countQueries: () => Promise<readonly QueryCount[]>;
  /** Resolves when every thread observes its queries so. */
  readonly observe: (observation: Observation) => Promise<void>;
  readonly loggedQueries: (sinceMilliseconds: number) => Promise<readonly LoggedQuery[]>;
}

export async function startPublicationServer(
  options: PublicationServerOptions,
): Promise<PublicationServer> {
  const { secret, apply, resolve, countQueries, observe, loggedQueries } = options;
  const handle = async (request: IncomingMessage): Promise<Reply> => {
    if (!isFromWorker(request, secret)) return { status: 403 };
    if (request.url === publicationPath) {
      await apply((await json(request)) as readonly Publication[]);
      return { status: 204 };
    }
    if (request.url === queriesPath) {
      return { status: 200, body: JSON.stringify(await countQueries()) };
    }
    if (request.url === observationPath) {
      await observe((await json(request)) as Observation);
      return { status: 204 };
    }
    if (request.url === logPath) {
      const sinceMilliseconds = (await json(request)) as number;
      return { status: 200, body: JSON.stringify(await loggedQueries(sinceMilliseconds)) };
    }
    if (request.url !== externalPath) return { status: 404 };
    const question = (await json(request)) as ExternalQuestion;
    return { status: 200, body: JSON.stringify(await resolve(question)) };
  };
  const server = createServer((request, response) => {
    handle(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  // The worker could send on a connection just when an idle timeout closes it.
  server.keepAliveTimeout = 0;
  await once(server.listen(options.port ?? 0, "127.0.0.1"), "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body?: string;
}

/** Decides before the body is read. The comparison takes the same time for all secrets. */
function isFromWorker({ method = "", headers }: IncomingMessage, secret: string): boolean {
  const { host = null, origin = null } = headers;
  const head = { method, host, origin, requestedMethod: null };
  const given = Buffer.from(String(headers[secretHeader]));
  return refuseRequest(head, loopbackOnly) === null && isSameSecret(Buffer.from(secret), given);
}

/** The calls that the first thread makes to the other threads. */
export type ForwardedCalls = {
  apply: ApplyPublications;
  countQueries: () => readonly QueryCount[];
  observe: (observation: Observation) => void;
  loggedQueries: (sinceMilliseconds: number) => readonly LoggedQuery[];
};

/** The other threads, called by the first. */
export class OtherThreads {
  #callers: readonly ThreadCaller<ForwardedCalls>[] = [];

  /** @param ports to the threads, which serve `ForwardedCalls` */
  constructor(ports: readonly MessagePort[]) {
    for (const port of ports) this.add(port);
  }

  /** Adds a thread that has started in place of a thread that has ended. */
  add(port: MessagePort): void {
    const running = this.#callers.filter(({ hasEnded }) => !hasEnded);
    this.#callers = [...running, new ThreadCaller<ForwardedCalls>(port)];
  }

  /** A thread reports its own failures. A thread that has ended answers no queries. */
  async apply(publications: readonly Publication[]): Promise<void> {
    await Promise.allSettled(this.#callers.map((caller) => caller.call("apply", publications)));
  }

  countQueries(): Promise<QueryCount[]> {
    return this.#collect((caller) => caller.call("countQueries"));
  }

  async observe(observation: Observation): Promise<void> {
    await Promise.allSettled(this.#callers.map((caller) => caller.call("observe", observation)));
  }

  loggedQueries(sinceMilliseconds: number): Promise<LoggedQuery[]> {
    return this.#collect((caller) => caller.call("loggedQueries", sinceMilliseconds));
  }

  async #collect<Item>(
    ask: (caller: ThreadCaller<ForwardedCalls>) => Promise<readonly Item[]>,
  ): Promise<Item[]> {
    const results = await Promise.allSettled(this.#callers.map(ask));
    return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }
}
