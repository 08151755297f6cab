/**
 * Conditions of buckets and of DNS that this process holds at a server, and calls of other processes that
 * this process follows there. The server may end and start again: the owner of a store, or DNS.
 *
 * Conditions are in force while a connection is open. When the connection ends, this process connects
 * again at once and until it succeeds, so the next runtime has the conditions as soon as it listens. The
 * connection is a WebSocket, whose messages are JSON in bytes: to each request the other end sends a report.
 */
import { mkdirSync } from "node:fs";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { UserError } from "../../base/user-error.ts";
import type {
  ConditionsReport,
  RequestedConditions,
  FollowedCall,
  FollowedCalls,
} from "../client/message.ts";
import { messageHead, upgradeRequest, WebSocketReader } from "../client/web-socket.ts";
import { EndpointClient } from "./endpoint-client.ts";
import { EndpointClosedError, endpointPath } from "./endpoint-connection.ts";

interface ConnectionOptions {
  /** @throws UserError that says why the server cannot be reached */
  readonly findPlace: () => Promise<ConditionsPlace>;
  /** The sentences for an error of the connection. */
  readonly explain: (error: Error) => string;
}

const retryMilliseconds = 20;
/** After so many attempts the server does not start at this moment, and the pauses are longer. */
const briskAttempts = 500;
const patientRetryMilliseconds = 250;

export class ConditionsConnection<Conditions extends object, Report> {
  readonly #options: ConnectionOptions;
  /** `null`: nothing is unusual, and there is no connection. */
  #wanted: Conditions | null = null;
  #link: ConditionsLink | null = null;
  #problem: Error | null = null;
  #changes: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Why the conditions are not in force; `null` when they are. */
  get problem(): string | null {
    const problem = this.#problem;
    if (problem === null) return null;
    return problem instanceof UserError ? problem.message : this.#options.explain(problem);
  }

  /**
   * Replaces the conditions. When the promise resolves, they are in force, or `problem` says why they
   * are not.
   *
   * @param conditions `null`: nothing is unusual
   */
  hold(conditions: Conditions | null): Promise<void> {
    this.#wanted = conditions;
    return this.#apply();
  }

  /** @returns `null` while the conditions are not in force */
  async report(): Promise<Report | null> {
    await this.#changes;
    return (await this.#link?.send<Report>({}).catch(() => null)) ?? null;
  }

  /** Ends the conditions. */
  async close(): Promise<void> {
    await this.hold(null);
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#link?.close();
  }

  #apply(): Promise<void> {
    this.#changes = this.#changes.then(() => this.#applyNow());
    return this.#changes;
  }

  async #applyNow(): Promise<void> {
    const wanted = this.#wanted;
    if (this.#isClosed) return;
    try {
      if (wanted !== null) {
        this.#link ??= this.#connected(await this.#options.findPlace());
        await this.#link.send<Report>({ conditions: wanted });
      } else if (this.#link !== null) {
        // The end of the connection would be noticed later than the answer.
        const link = this.#link;
        await link.send({ conditions: null }).catch(() => {});
        link.close();
        await link.ended;
      }
      this.#problem = null;
      this.#failures = 0;
    } catch (error) {
      this.#problem = error as Error;
      this.#link?.close();
      this.#link = null;
      this.#retryLater();
    }
  }

  #connected(place: ConditionsPlace): ConditionsLink {
    const link = new ConditionsLink(place);
    void link.ended.then(() => {
      if (this.#link === link) this.#link = null;
      if (this.#wanted !== null) this.#problem ??= new Error("the connection has ended");
      this.#retryLater();
    });
    return link;
  }

  #retryLater(): void {
    if (this.#isClosed || this.#wanted === null || this.#retry !== undefined) return;
    const isBrisk = ++this.#failures < briskAttempts;
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        void this.#apply();
      },
      isBrisk ? retryMilliseconds : patientRetryMilliseconds,
    ).unref();
  }
}

interface ConditionsPlace {
  readonly address: NetConnectOpts;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface WaitingRequest {
  readonly resolve: (report: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An end that works answers within this time, also when many uploads expire. */
const answerMilliseconds = 20_000;

class ConditionsLink {
  /** Resolves when the connection has ended, and with it the conditions. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #reader = new WebSocketReader();
  readonly #waiting: WaitingRequest[] = [];
  /** The messages that wait for the upgrade. */
  #unsent: Uint8Array[] = [];
  #error: Error | undefined;

  constructor({ address, path, headers }: ConditionsPlace) {
    const socket = connect(address);
    this.#socket = socket;
    // The conditions end with the process, which does not wait for them.
    socket.unref();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(upgradeRequest(path, lines), "latin1");
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#error = error));
    this.ended = new Promise((resolve) => {
      socket.once("close", () => {
        const reason = this.#error?.message ?? "the connection was closed";
        for (const { reject } of this.#waiting.splice(0)) reject(new EndpointClosedError(reason));
        resolve();
      });
    });
  }

  /** @throws EndpointClosedError */
  async send<Report>(request: object): Promise<Report> {
    if (this.#socket.destroyed) throw new EndpointClosedError("the connection was closed");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ resolve, reject });
    const message = Buffer.from(JSON.stringify(request));
    if (this.#reader.isOpen) this.#write(message);
    else this.#unsent.push(message);
    const seconds = answerMilliseconds / 1000;
    const timer = setTimeout(
      () => this.#socket.destroy(new Error(`no answer within ${seconds} s`)),
      answerMilliseconds,
    );
    try {
      return (await promise) as Report;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #write(message: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(messageHead(message.length));
    this.#socket.write(message);
    this.#socket.uncork();
  }

  #receive(chunk: Uint8Array): void {
    try {
      const messages = this.#reader.push(chunk);
      if (this.#reader.isOpen) for (const each of this.#unsent.splice(0)) this.#write(each);
      for (const message of messages) {
        this.#waiting.shift()?.resolve(JSON.parse(Buffer.from(message).toString("utf8")));
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}

/**
 * The addresses of the stores whose conditions this process holds, by their holders. A runtime that this
 * process starts waits for the conditions before its first call, as when a dev server starts its runtime
 * again for a saved script (`store/bucket/conditions.ts`). The runtime of another process has them a
 * moment later.
 */
const addresses = new Map<object, string>();

/** @param folder exists */
export function hasConditionsHolder(folder: string): boolean {
  return addresses.size > 0 && [...addresses.values()].includes(endpointPath(folder));
}

/**
 * The conditions of a store, held at its owner (`store/bucket/conditions.ts`). This process does not become the owner for the sake of conditions: without an owner, no call is made.
 */
export class OwnerConditions extends ConditionsConnection<RequestedConditions, ConditionsReport> {
  readonly #folder: string;

  /** @param folder of the store */
  constructor(folder: string) {
    super({
      findPlace: async () => ({
        address: { path: endpointPath(folder) },
        path: "/conditions",
        headers: { host: "store" },
      }),
      explain: ({ message }) => {
        const owner = readOwnerRecord(folder);
        return owner === null
          ? "No process has the buckets open. The conditions of buckets apply when a script or a command uses a bucket."
          : `Process ${owner.processId} has the buckets open and does not take the conditions ` +
              `(${message}). If this lasts, restart that process.`;
      },
    });
    this.#folder = folder;
  }

  /** @throws UserError where the buckets of another process cannot be reached */
  override async hold(conditions: RequestedConditions | null): Promise<void> {
    if (conditions === null) addresses.delete(this);
    else {
      if (!hasRuntimeSockets) {
        throw new UserError(
          "On Windows no process can reach the buckets of another. Use the Windows Subsystem for Linux.",
        );
      }
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      addresses.set(this, endpointPath(this.#folder));
    }
    await super.hold(conditions);
  }
}

const askMilliseconds = 200;
/** A folder without an owner has no calls, and the next owner takes time to start. */
const silentMilliseconds = 1000;

/** Follows the calls that other processes make at the owner of a store. The next owner has the same socket. */
export class CallFollower {
  readonly #endpoint: EndpointClient;
  readonly #onCalls: (calls: readonly FollowedCall[]) => void;
  #last: Pick<FollowedCalls, "run" | "last"> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(folder: string, onCalls: (calls: readonly FollowedCall[]) => void) {
    this.#endpoint = new EndpointClient(endpointPath(folder));
    this.#onCalls = onCalls;
    void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#endpoint.close();
  }

  async #ask(): Promise<void> {
    let pause = askMilliseconds;
    try {
      const query = this.#last === null ? "" : `?run=${this.#last.run}&after=${this.#last.last}`;
      const answer = await this.#endpoint.requestJson<FollowedCalls>(`/calls${query}`, {
        method: "GET",
      });
      if (this.#isClosed) return;
      this.#last = answer;
      if (answer.calls.length > 0) this.#onCalls(answer.calls);
    } catch {
      pause = silentMilliseconds;
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#ask(), pause);
    // A process does not go on for the sake of its followers.
    this.#timer.unref();
  }
}
