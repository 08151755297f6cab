/**
 * A command's connection to the owner of the zones, through the folder's socket.
 *
 * If no process owns the zones, this process does, briefly: the runtime of an owner that was killed
 * still answers, and has to end first. When the owner changes, a request in flight is sent again with
 * the same id, to the next owner (`state/repeat.ts`).
 */
import { randomUUID } from "node:crypto";
import { text as readText } from "node:stream/consumers";
import { request } from "../../base/node-http.ts";
import { UserError } from "../../base/user-error.ts";
import { repeatUntilAnswered } from "../../state/repeat.ts";
import { Succession } from "../../state/succession.ts";
import type { ApiRequest, ApiResponse, Fetch } from "../client/api-client.ts";
import type { ProjectDns, ServerAddress } from "../config/dns-table.ts";
import { requestIdHeader } from "../rules/api-call.ts";
import { startCompanion } from "./companion.ts";
import {
  apiSocketPath,
  describeOtherTable,
  findZonesOwner,
  takeZones,
  waitForAddresses,
  type Zones,
  type ZonesOwner,
} from "./zones-owner.ts";

/** A healthy owner on this machine answers a small request sooner. */
const checkMilliseconds = 10_000;
/** The longest time for which an owner that works sends nothing: it imports a large zone. */
const silenceMilliseconds = 120_000;
const origin = "http://dns";

/** The root of the API. The host has no meaning. */
export const connectionUrl = `${origin}/client/v4`;

export interface ZonesConnection {
  /** As the global `fetch()`, for URLs below `connectionUrl`. */
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/** @throws UserError when a process owns the zones and does not answer */
export async function connectToZones(zones: Zones): Promise<ZonesConnection> {
  const { folder } = zones;
  const succession = succeedZonesOwner(zones, (text) => console.warn(text));

  const notAnswering = async (): Promise<UserError> => {
    const owner = await findZonesOwner(folder);
    return new UserError(
      `Process ${owner?.processId ?? "?"} has the zones in ${folder} and does not answer. Stop the ` +
        "process and try again.",
    );
  };

  const send = async (
    url: string,
    init: ApiRequest,
    answerMilliseconds: number,
  ): Promise<ApiResponse> => {
    const message = await messageOf(url, init);
    return repeatUntilAnswered({
      send: () => exchange(apiSocketPath(folder), message, answerMilliseconds),
      onFailure: async (error, isOver) => {
        if (error instanceof SilenceError) throw await notAnswering();
        if (succession.failure !== null) throw succession.failure;
        if (!isOver) return;
        if ((await findZonesOwner(folder)) !== null) throw await notAnswering();
        const { message: reason } = error;
        throw new UserError(`No process serves the zones in ${folder} (${reason}). Try again.`);
      },
    });
  };

  try {
    await succession.ready;
    await send(`${connectionUrl}/user`, {}, checkMilliseconds);
  } catch (error) {
    await succession.stop();
    throw error;
  }
  return {
    fetch: (url, init) => send(url, init, silenceMilliseconds),
    close: () => succession.stop(),
  };
}

/**
 * Requests to the process that has the zones until its end, for what ends with that process: the
 * faults and the log of queries. A request fails when the process has ended.
 *
 * @throws UserError when there is no such process
 */
export async function findServer({ folder }: Zones): Promise<Fetch> {
  if ((await waitForAddresses(folder)) === null) {
    throw new UserError(
      `No server has the zones in ${folder}. Start "ledge dns serve" or "ledge dev" there, or name ` +
        "another server with --url.",
    );
  }
  return async (url, init) => {
    const message = await messageOf(url, init);
    return repeatUntilAnswered({
      send: () => exchange(apiSocketPath(folder), message, checkMilliseconds),
      // A dev server that reads a new configuration has another runtime a moment later.
      onFailure: async (error, isOver) => {
        if (!isOver && (await waitForAddresses(folder)) !== null) return;
        throw new UserError(`The server that had the zones in ${folder} has ended.`, {
          cause: error,
        });
      },
    });
  };
}

/**
 * Serves the zones while no other process does, without ports.
 *
 * @param warn receives a warning when another owner has another `[dns]` table
 */
export function succeedZonesOwner(
  zones: Zones,
  warn: (text: string) => void,
): Succession<ZonesOwner> {
  let lastWarning: string | null = null;
  return new Succession({
    folder: zones.folder,
    take: (onHandover) => takeZones(zones, { isBrief: true, onHandover }),
    start: (owner) => startCompanion(owner, zones.variables, { isPublic: false, listeners: null }),
    onOwner: (link) => {
      link.requestService();
      const warning = describeOtherTable(zones);
      if (warning !== null && warning !== lastWarning) warn(warning);
      lastWarning = warning;
    },
  });
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

async function messageOf(
  url: string,
  { method = "GET", headers, body }: ApiRequest,
): Promise<Message> {
  const content = await contentOf(body);
  return {
    method,
    path: url.slice(origin.length),
    headers: { ...headers, ...content.headers, [requestIdHeader]: randomUUID() },
    body: content.bytes,
  };
}

/** The classes of `fetch()` are used for a form only: Node takes 80 ms to load them. */
async function contentOf(
  body: ApiRequest["body"],
): Promise<{ readonly bytes: Buffer; readonly headers: Record<string, string> }> {
  if (typeof body !== "object") return { bytes: Buffer.from(body ?? ""), headers: {} };
  const form = new Response(body);
  return {
    bytes: Buffer.from(await form.arrayBuffer()),
    headers: Object.fromEntries(form.headers),
  };
}

/** The owner has accepted the connection and does not answer. */
class SilenceError extends Error {
  override readonly name = "SilenceError";
}

function exchange(
  socketPath: string,
  { method, path, headers, body }: Message,
  answerMilliseconds: number,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath,
      method,
      path,
      // A connection for each request: none keeps the process alive.
      agent: false,
      headers: { ...headers, host: "dns", "content-length": body.length },
    });
    outgoing.setTimeout(answerMilliseconds, () =>
      outgoing.destroy(new SilenceError(`no answer within ${answerMilliseconds / 1000} s`)),
    );
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const { statusCode: status = 500 } = incoming;
      const ok = status >= 200 && status < 300;
      readText(incoming).then(
        (content) => resolve({ status, ok, text: () => Promise.resolve(content) }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

/** Where a process serves the zones. */
interface ZonesListeners {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP. */
  readonly dns: ServerAddress | null;
  /** Of DNS over TLS. */
  readonly tls: ServerAddress | null;
  /** Ends the listeners, if this process has them. */
  stop?(): Promise<void>;
}

/** The ports of the owner, or ports of this process. */
export async function findListeners(zones: Zones, dns: ProjectDns): Promise<ZonesListeners> {
  // Loading the runtime takes longer than most commands take through a running server.
  const addresses = await waitForAddresses(zones.folder);
  if (addresses !== null) return addresses;
  const { startBriefly } = await import("./start-dns.ts");
  const running = await startBriefly(zones, dns);
  if (running === null) return findListeners(zones, dns);
  const { url, dnsPort } = running;
  const server = dnsPort === null ? null : { host: "127.0.0.1", port: dnsPort };
  return { url, dns: server, tls: null, stop: () => running.stop() };
}
