/**
 * Faults of buckets and of DNS that this process holds at a server, and calls of other processes that
 * this process follows there. The server may end and start again: the owner of a store, or DNS.
 *
 * Faults are in force while a connection is open. When the connection ends, this process connects
 * again at once and until it succeeds, so the next runtime has the faults as soon as it listens. The
 * connection is a WebSocket, whose messages are JSON in bytes: to each request the other end sends a report.
 */
import { mkdirSync } from "node:fs";
import { nameOwner, readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { UserError } from "../../base/user-error.ts";
import type {
  FaultsReport,
  RequestedFaults,
  FollowedCall,
  FollowedCalls,
} from "../client/message.ts";
import { AnsweringSocket, EndpointClient, endpointPath, type SocketPlace } from "./endpoint.ts";

interface ConnectionOptions {
  /** @throws UserError that says why the server cannot be reached */
  readonly findPlace: () => Promise<SocketPlace>;
  readonly explain: (error: Error) => string;
}

const retryMilliseconds = 20;
/** After so many attempts the server does not start at this moment, and the pauses are longer. */
const briskAttempts = 500;
const patientRetryMilliseconds = 250;
/** An end that works answers within this time, also when many uploads expire. */
const silenceMilliseconds = 20_000;

export class FaultsConnection<Faults extends object, Report> {
  readonly #options: ConnectionOptions;
  /** `null`: no faults, and no connection. */
  #wanted: Faults | null = null;
  #link: FaultsLink<Report> | null = null;
  #problem: Error | null = null;
  #changes: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Why the faults are not in force; `null` when they are. */
  get problem(): string | null {
    const problem = this.#problem;
    if (problem === null) return null;
    return problem instanceof UserError ? problem.message : this.#options.explain(problem);
  }

  /**
   * Replaces the faults. When the promise resolves, they are in force, or `problem` says why they
   * are not.
   *
   * @param faults `null`: none
   */
  hold(faults: Faults | null): Promise<void> {
    this.#wanted = faults;
    return this.#apply();
  }

  /** @returns `null` while the faults are not in force */
  async report(): Promise<Report | null> {
    await this.#changes;
    return (await this.#link?.send({}).catch(() => null)) ?? null;
  }

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
        await this.#link.send({ hold: wanted });
      } else if (this.#link !== null) {
        // The end of the connection would be noticed later than the answer.
        const link = this.#link;
        await link.send({ hold: null }).catch(() => {});
        link.close();
        await link.ended;
      }
      this.#problem = null;
      this.#failures = 0;
    } catch (error) {
      this.#problem = error as Error;
      if (error instanceof RefusedFaultsError) {
        // The other end may start to take them: when its listeners are open, or in its next runtime.
        this.#failures = briskAttempts;
      } else {
        this.#link?.close();
        this.#link = null;
      }
      this.#retryLater();
    }
  }

  #connected(place: SocketPlace): FaultsLink<Report> {
    const link = new FaultsLink<Report>(place);
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

/** The other end answers the requests in their order. */
class FaultsLink<Report> extends AnsweringSocket<Report> {
  #sent = 0;

  constructor(place: SocketPlace) {
    let received = 0;
    super({
      ...place,
      silenceMilliseconds,
      endsIdle: false,
      decode: (message) => ({
        id: received++,
        answer: JSON.parse(Buffer.from(message).toString()) as Report,
      }),
    });
  }

  /** @throws EndpointClosedError, RefusedFaultsError */
  async send(request: object): Promise<Report> {
    const report = await this.ask(this.#sent++, Buffer.from(JSON.stringify(request)));
    const { refused } = report as { readonly refused?: string };
    if (refused !== undefined) throw new RefusedFaultsError(refused);
    return report;
  }
}

/** The message is the other end's sentence. */
class RefusedFaultsError extends UserError {}

/**
 * The addresses of the stores whose faults this process holds, by their holders. A runtime that this
 * process starts waits for the faults before its first call, as when a dev server starts its runtime
 * again for a saved script (`store/bucket/held-faults.ts`). The runtime of another process has them a
 * moment later.
 */
const addresses = new Map<object, string>();

/** @param folder exists */
export function hasFaultsHolder(folder: string): boolean {
  return addresses.size > 0 && [...addresses.values()].includes(endpointPath(folder));
}

/**
 * The faults of a store, held at its owner (`store/bucket/held-faults.ts`). This process does not become
 * the owner for the sake of faults: without an owner, no call is made.
 */
export class OwnerFaults extends FaultsConnection<RequestedFaults, FaultsReport> {
  readonly #folder: string;

  constructor(folder: string) {
    super({
      findPlace: async () => ({
        address: { path: endpointPath(folder) },
        path: "/faults",
        headers: { host: "store" },
      }),
      explain: ({ message }) => {
        const owner = readOwnerRecord(folder);
        return owner === null
          ? "No process has the buckets open. The faults of buckets apply when a script or a command uses a bucket."
          : `${nameOwner(owner)} has the buckets open and does not take the faults ` +
              `(${message}). If this lasts, restart that process.`;
      },
    });
    this.#folder = folder;
  }

  /** @throws UserError where the buckets of another process cannot be reached */
  override async hold(faults: RequestedFaults | null): Promise<void> {
    if (faults === null) addresses.delete(this);
    else {
      if (!hasRuntimeSockets) {
        throw new UserError(
          "On Windows no process can reach the buckets of another. Use the Windows Subsystem for Linux.",
        );
      }
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      addresses.set(this, endpointPath(this.#folder));
    }
    await super.hold(faults);
  }
}

const askMilliseconds = 200;
/** A folder without an owner has no calls, and the next owner takes time to start. */
const silentMilliseconds = 1000;

/** Follows the calls at the owner of a store. The next owner has the same socket. */
export class CallFollower {
  readonly #endpoint: EndpointClient;
  readonly #onCalls: (calls: readonly FollowedCall[], isWhole: boolean) => void;
  #last: Pick<FollowedCalls, "run" | "last"> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Whether no owner was there before the first answer: its calls before that answer are not known. */
  #wasSilent = false;
  /** Resolves when the owner has answered, or there is none. */
  readonly firstAnswer: Promise<void>;

  /** @param onCalls `isWhole`: no call before these was missed, as between two owners */
  constructor(folder: string, onCalls: (calls: readonly FollowedCall[], isWhole: boolean) => void) {
    this.#endpoint = new EndpointClient(folder);
    this.#onCalls = onCalls;
    this.firstAnswer = this.#ask();
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
      const text = await this.#endpoint.request(`/calls${query}`, { method: "GET" });
      const answer = JSON.parse(text.toString()) as FollowedCalls;
      if (this.#isClosed) return;
      const { calls, run } = answer;
      const isWhole = this.#last === null ? !this.#wasSilent : this.#last.run === run;
      this.#last = answer;
      if (calls.length > 0 || !isWhole) this.#onCalls(calls, isWhole);
    } catch {
      this.#wasSilent = true;
      pause = silentMilliseconds;
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#ask(), pause);
    // A process does not go on for the sake of its followers.
    this.#timer.unref();
  }
}
