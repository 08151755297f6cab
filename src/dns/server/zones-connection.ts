/**
 * A command's connection to the owner of the zones, through the folder's socket.
 *
 * If no process owns the zones, this process does, briefly: the runtime of an owner that was killed
 * still answers, and has to end first. The owner may change at any time: a dev
 * server ends, restarts or starts. Then a request in flight is sent again, to the next owner. So a
 * request that may write has an id (`worker/objects/stored-replies.ts`).
 */
import { randomUUID } from "node:crypto";
import { request } from "../../base/node-http.ts";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Succession } from "../../base/succession.ts";
import { UserError } from "../../base/user-error.ts";
import { requestIdHeader } from "../rules/request-id.ts";
import { apiSocketPath, findZonesOwner, type Zones, type ZonesOwner } from "./zones-owner.ts";
import { succeedZonesOwner } from "./zones-successor.ts";

const pollMilliseconds = 20;
/** An owner that starts, restarts or takes over answers within this time. */
const patienceMilliseconds = 60_000;
/** A healthy owner on this machine answers a small request sooner. */
const checkMilliseconds = 10_000;
/** The longest time for which an owner that works sends nothing: it imports a large zone. */
const silenceMilliseconds = 120_000;
const origin = "http://dns";

/** The root of the API. The host has no meaning. */
export const connectionUrl = `${origin}/client/v4`;

export class ZonesConnection {
  readonly #zones: Zones;
  readonly #succession: Succession<ZonesOwner>;

  private constructor(zones: Zones) {
    this.#zones = zones;
    this.#succession = succeedZonesOwner(zones, (text) => console.warn(text));
  }

  /** @throws UserError when a process owns the zones and does not answer */
  static async open(zones: Zones): Promise<ZonesConnection> {
    const connection = new ZonesConnection(zones);
    try {
      await connection.#succession.ready;
      await connection.#send(new Request(`${connectionUrl}/user`), checkMilliseconds);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** As the global `fetch()`, for URLs below `connectionUrl`. */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    return this.#send(new Request(url, init), silenceMilliseconds);
  }

  async close(): Promise<void> {
    await this.#succession.stop();
  }

  async #send(sent: Request, answerMilliseconds: number): Promise<Response> {
    const message: Message = {
      method: sent.method,
      path: sent.url.slice(origin.length),
      headers: { ...Object.fromEntries(sent.headers), [requestIdHeader]: randomUUID() },
      body: Buffer.from(await sent.arrayBuffer()),
    };
    const deadline = Date.now() + patienceMilliseconds;
    for (;;) {
      try {
        return await exchange(apiSocketPath(this.#zones.folder), message, answerMilliseconds);
      } catch (error) {
        if (error instanceof SilenceError) throw await this.#notAnswering();
        const { folder } = this.#zones;
        if (this.#succession.failure !== null) throw this.#succession.failure;
        if (Date.now() > deadline) {
          const owner = await findZonesOwner(folder);
          if (owner !== null) throw await this.#notAnswering();
          const { message: reason } = error as Error;
          throw new UserError(`No process serves the zones in ${folder} (${reason}). Try again.`);
        }
      }
      await delay(pollMilliseconds);
    }
  }

  async #notAnswering(): Promise<UserError> {
    const { folder } = this.#zones;
    const owner = await findZonesOwner(folder);
    return new UserError(
      `Process ${owner?.processId ?? "?"} has the zones in ${folder} and does not answer. Stop the ` +
        "process and try again.",
    );
  }
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The owner has accepted the connection and does not answer. */
class SilenceError extends Error {
  override readonly name = "SilenceError";
}

function exchange(
  socketPath: string,
  { method, path, headers, body }: Message,
  answerMilliseconds: number,
): Promise<Response> {
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
      buffer(incoming).then((content) => {
        const { statusCode: status = 500, headers: received } = incoming;
        const contentType = received["content-type"] ?? "application/octet-stream";
        const answer = content.length === 0 ? null : new Uint8Array(content);
        resolve(new Response(answer, { status, headers: { "content-type": contentType } }));
      }, reject);
    });
    outgoing.end(body);
  });
}
