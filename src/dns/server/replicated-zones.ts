/**
 * The zones of the listener thread, which replicate the zone objects of the companion worker. The
 * worker publishes every change before the call that made it returns (`worker/replication`), to an
 * HTTP server here (`src/dns/replication/listener-protocol.ts`). When serials do not fit together
 * because a publication was lost, the thread fetches the whole zone.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json as readBody, text } from "node:stream/consumers";
import { loopbackOnly, refuseRequest } from "../../base/host-rule.ts";
import { Agent, createServer, request as send } from "../../base/node-http.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { Observation } from "../fault/observed-queries.ts";
import type { FaultQuestion } from "../fault/query-fault.ts";
import {
  currentObservationPath,
  readState,
  secretHeader,
  takeFaultPath,
  zonesPath,
} from "../replication/listener-protocol.ts";
import {
  applyPublication,
  zoneIdOf,
  type LoggedChange,
  type Publication,
} from "../replication/publication.ts";
import type { ZoneChange } from "../rules/zone.ts";
import { isSameSecret } from "../wire/bytes.ts";

interface ReplicatedZonesOptions {
  readonly secret: string;
  /** Called after a zone was changed (with the change), replaced or removed (with `null`). */
  readonly onChange: (zoneId: string, change: ZoneChange | null) => void;
}

export class ReplicatedZones {
  readonly #zones: ServedZones;
  readonly #options: ReplicatedZonesOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });
  /** Zones that are being fetched. Their publications are applied afterwards. */
  readonly #loading = new Map<string, Promise<void>>();
  readonly #origin = Promise.withResolvers<string>();

  constructor(zones: ServedZones, options: ReplicatedZonesOptions) {
    this.#zones = zones;
    this.#options = options;
  }

  /** Can be repeated: the zones may be those of a restored state. */
  async load(origin: string): Promise<void> {
    this.#origin.resolve(origin);
    const ids = (await this.#request<string[]>("GET", zonesPath)) ?? [];
    await Promise.all([...new Set([...ids, ...this.#zones.ids])].map((id) => this.#reload(id)));
  }

  changesSince(zoneId: string, serial: number): Promise<LoggedChange[] | null> {
    return this.#request("GET", `${zonesPath}/${zoneId}/changes/${serial}`);
  }

  /** Gives a zone a new serial; a publication follows. */
  async advanceSerial(zoneId: string): Promise<void> {
    await this.#request("POST", `${zonesPath}/${zoneId}/serial`);
  }

  /** What servers observe now: a thread that starts again has missed it. */
  async observation(): Promise<Observation> {
    return (
      (await this.#request("GET", currentObservationPath)) ?? {
        faults: [],
        log: null,
        startsEmpty: false,
        history: [],
      }
    );
  }

  /** Asks the companion worker, which counts the queries of all servers, for the fault of a query. */
  takeFault(question: FaultQuestion): Promise<number | null> {
    return this.#request("POST", takeFaultPath, question);
  }

  stop(): void {
    this.#agent.destroy();
  }

  /** Resolves when queries are answered from the published state. */
  async apply(publications: readonly Publication[]): Promise<void> {
    for (const publication of publications) {
      const zoneId = zoneIdOf(publication);
      await this.#loading.get(zoneId);
      const before = this.#zones.get(zoneId)?.serial;
      // A state that is fetched now includes this publication, which was committed before.
      if (applyPublication(this.#zones, publication) === "reload") await this.#reload(zoneId);
      else if (this.#zones.get(zoneId)?.serial !== before) {
        this.#options.onChange(zoneId, publication.kind === "change" ? publication.change : null);
      }
    }
  }

  #reload(zoneId: string): Promise<void> {
    const loading = this.#fetchZone(zoneId).finally(() => this.#loading.delete(zoneId));
    this.#loading.set(zoneId, loading);
    return loading;
  }

  async #fetchZone(zoneId: string): Promise<void> {
    const state = await this.#open("GET", `${zonesPath}/${zoneId}`);
    if (state === null) this.#zones.remove(zoneId);
    else this.#zones.put(await readState(state.setEncoding("utf8")));
    this.#options.onChange(zoneId, null);
  }

  /** Resolves to `null` for status 404, and for a response without content. */
  async #request<Result>(
    method: "GET" | "POST",
    path: string,
    content?: unknown,
  ): Promise<Result | null> {
    const response = await this.#open(method, path, content);
    const json = response === null ? "" : await text(response);
    return json === "" ? null : (JSON.parse(json) as Result);
  }

  async #open(
    method: "GET" | "POST",
    path: string,
    content?: unknown,
  ): Promise<IncomingMessage | null> {
    const url = (await this.#origin.promise) + path;
    const headers = { [secretHeader]: this.#options.secret };
    const request = send(url, { method, agent: this.#agent, headers });
    request.end(JSON.stringify(content));
    let response: IncomingMessage;
    try {
      [response] = (await once(request, "response")) as [IncomingMessage];
    } catch (error) {
      const isReset = (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!isReset || !request.reusedSocket) throw error;
      // workerd closes idle connections, and this request has met the end of its connection.
      return this.#open(method, path, content);
    }
    // An error of the connection ends the response with an error too.
    request.on("error", () => {});
    if (response.statusCode === 200 || response.statusCode === 204) return response;
    const body = await text(response);
    if (response.statusCode === 404) return null;
    throw new Error(`${method} ${path}: ${response.statusCode} ${body}`);
  }
}

interface PublicationServerOptions {
  /** 0 for any */
  readonly port: number;
  readonly secret: string;
  /** By path. The body of a request is JSON; `undefined` as a result has status 204. */
  readonly calls: Readonly<Record<string, (body: never) => unknown>>;
}

/** Listens on loopback, and answers only requests with the secret of this start. */
export async function startPublicationServer({
  port,
  secret,
  calls,
}: PublicationServerOptions): Promise<{ readonly address: string; stop(): void }> {
  const handle = async (request: IncomingMessage): Promise<{ status: number; body?: string }> => {
    if (!isFromWorker(request, secret)) return { status: 403 };
    const call = calls[request.url ?? ""];
    if (call === undefined) return { status: 404 };
    const result = await call((await readBody(request)) as never);
    if (result === undefined) return { status: 204 };
    return { status: 200, body: JSON.stringify(result) };
  };
  const server = createServer((request, response) => {
    handle(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  // The worker could send on a connection just when an idle timeout closes it.
  server.keepAliveTimeout = 0;
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Decides before the body is read. The comparison takes the same time for all secrets. */
function isFromWorker({ method = "", headers }: IncomingMessage, secret: string): boolean {
  const { host = null, origin = null } = headers;
  const head = { method, host, origin, requestedMethod: null };
  const given = Buffer.from(String(headers[secretHeader]));
  return refuseRequest(head, loopbackOnly) === null && isSameSecret(Buffer.from(secret), given);
}
