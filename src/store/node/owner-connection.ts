/**
 * A connection to the owner of a store's folder, through the owner's endpoint.
 *
 * If no process owns the folder, this process becomes the owner. When the owner changes, the requests
 * in flight are repeated at the endpoint of the next owner (`state/repeat.ts`). So a request that
 * writes carries an id.
 */
import { mkdirSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { removedText } from "../../state/disk.ts";
import { nameOwner, readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { repeatUntilAnswered } from "../../state/repeat.ts";
import type { Succession } from "../../state/succession.ts";
import { explain } from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";
import type { ClientName } from "../client/message.ts";
import { EndpointClient, EndpointClosedError } from "./endpoint.ts";
import { succeedStoreOwner } from "./store-owner.ts";

const pollMilliseconds = 20;
/** How long a handover waits for the transfers in flight. */
const drainMilliseconds = 10_000;
/** How long a wait is not worth a message. */
const silentMilliseconds = 10_000;

export interface OwnerConnectionOptions {
  /**
   * Whether this process becomes the owner of a folder without an owner. If not, another part of the
   * process does. Default: true
   */
  readonly succeeds?: boolean;
  /** Which program this process is, for the owner. Default: `node` */
  readonly clientName?: ClientName;
  /** Told why, when an answer takes long. */
  readonly onWait?: (text: string) => void;
}

export class OwnerConnection {
  readonly folder: string;
  readonly #endpoint: EndpointClient;
  readonly #succeeds: boolean;
  readonly #inode: number | undefined;
  readonly #onWait: ((text: string) => void) | undefined;
  #isClosed = false;
  #succession: Succession | undefined;
  /** Pending during a handover: no work starts. */
  #handover: Promise<void> | undefined;
  #inFlight = 0;

  constructor(
    folder: string,
    { succeeds = true, clientName = "node", onWait }: OwnerConnectionOptions = {},
  ) {
    this.folder = folder;
    this.#onWait = onWait;
    this.#succeeds = succeeds;
    if (!hasRuntimeSockets) {
      throw new UserError(
        "On Windows a command cannot reach the buckets. Use the Windows Subsystem for Linux.",
      );
    }
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw explain(error, folder);
    }
    this.#inode = inodeOf(folder);
    this.#endpoint = new EndpointClient(folder, clientName);
  }

  /** Runs `work`, and repeats it if the owner changes meanwhile. */
  async run<Result>(work: (endpoint: EndpointClient) => Promise<Result>): Promise<Result> {
    const told = this.#onWait && setTimeout(() => this.#tellWait(), silentMilliseconds);
    try {
      return await this.#run(work);
    } finally {
      clearTimeout(told);
    }
  }

  #tellWait(): void {
    const { folder } = this;
    this.#onWait?.(
      `Waiting for the answer of ${nameOwner(readOwnerRecord(folder)).toLowerCase()}, which has the ` +
        `store in ${folder}.`,
    );
  }

  async #run<Result>(work: (endpoint: EndpointClient) => Promise<Result>): Promise<Result> {
    // The runtime of an owner that was killed still answers, and has to end first.
    if (this.#succeeds) {
      this.#succession ??= succeedStoreOwner(this.folder, () => this.#drain());
      await this.#succession.ready;
    }
    return repeatUntilAnswered({
      send: () => this.#attempt(work),
      onFailure: (error, isOver) => {
        if (!(error instanceof EndpointClosedError)) throw error;
        // A write of content makes a folder that was removed again, without a socket.
        if (inodeOf(this.folder) !== this.#inode) {
          throw new UserError(removedText(this.folder, 0));
        }
        if (this.#succession?.failure != null) throw this.#succession.failure;
        if (isOver) throw this.#silence(error);
      },
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endpoint.close();
    await this.#succession?.stop();
  }

  async #attempt<Result>(work: (endpoint: EndpointClient) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new UserError(`The store in ${this.folder} is closed.`);
    await this.#handover;
    this.#inFlight++;
    try {
      return await work(this.#endpoint);
    } finally {
      this.#inFlight--;
    }
  }

  #silence({ message }: Error): UserError {
    const { folder } = this;
    const owner = readOwnerRecord(folder);
    return new UserError(
      owner === null
        ? `The store in ${folder} has no owner that answers (${message}). Try again.`
        : `${nameOwner(owner)} owns the store in ${folder} and does not answer ` +
            `(${message}). Stop that process, and try again.`,
    );
  }

  /** Waits for the work in flight. The work that starts later waits for the next owner. */
  async #drain(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handover = promise;
    const deadline = Date.now() + drainMilliseconds;
    while (this.#inFlight > 0 && Date.now() < deadline) await delay(pollMilliseconds);
    this.#handover = undefined;
    resolve();
  }
}

function inodeOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.ino;
}
