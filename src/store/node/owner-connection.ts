/**
 * A connection to the owner of a store's folder, through the owner's endpoint.
 *
 * If no process owns the folder, the connection starts a runtime and becomes the owner. The owner
 * may change at any time: a dev server ends, restarts or starts. Then the endpoint closes, and the
 * requests in flight are repeated at the endpoint of the next owner. So every request must be
 * repeatable.
 */
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { EndpointClient, EndpointClosedError } from "./endpoint-client.ts";
import { findStoreOwner } from "./store-owner.ts";
import { TemporaryRuntime } from "./temporary-runtime.ts";

export interface StoreFolder {
  /** The folder in which Miniflare persists its resources. */
  readonly persistPath: string;
  /** The store's folder below `persistPath`. */
  readonly folder: string;
}

const attemptsMax = 5;
const pollMilliseconds = 50;
/** A dev server that starts or restarts opens its endpoint within this time. */
const answerMilliseconds = 30_000;
/** After a handover, the next owner writes its run record within this time. */
const successorMilliseconds = 5_000;
/** How long a handover waits for the transfers in flight. */
const drainMilliseconds = 10_000;

export class OwnerConnection {
  readonly #store: StoreFolder;
  #endpoint: Promise<EndpointClient> | undefined;
  #ownRuntime: TemporaryRuntime | undefined;
  /** Pending during a handover: no work starts. */
  #handover: Promise<void> | undefined;
  #inFlight = 0;
  #expectsSuccessor = false;

  constructor(store: StoreFolder) {
    this.#store = store;
  }

  /** Runs `work`, and repeats it if the owner changes meanwhile. */
  async run<Result>(work: (endpoint: EndpointClient) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      await this.#handover;
      const opening = (this.#endpoint ??= this.#open());
      const endpoint = await opening;
      this.#inFlight++;
      try {
        return await work(endpoint);
      } catch (error) {
        if (!(error instanceof EndpointClosedError)) throw error;
        if (attempt === attemptsMax) {
          throw new UserError(
            `The process that owns the store in ${this.#store.folder} does not answer ` +
              `(${error.message}). Try again.`,
          );
        }
        if (this.#endpoint === opening) this.#endpoint = undefined;
        endpoint.close();
      } finally {
        this.#inFlight--;
      }
    }
  }

  async close(): Promise<void> {
    const endpoint = await this.#endpoint?.catch(() => undefined);
    endpoint?.close();
    await this.#ownRuntime?.stop();
    this.#ownRuntime = undefined;
  }

  async #open(): Promise<EndpointClient> {
    const { folder } = this.#store;
    const start = Date.now();
    for (;;) {
      const owner = await findStoreOwner(folder);
      if (owner?.endpoint !== undefined) {
        const endpoint = new EndpointClient(owner.endpoint);
        if (await answers(endpoint)) return endpoint;
        endpoint.close();
        if (Date.now() - start > answerMilliseconds) {
          throw new UserError(
            `Process ${owner.processId} owns the store in ${folder} and does not answer. ` +
              "Stop that process, and try again.",
          );
        }
      } else if (!this.#expectsSuccessor || Date.now() - start > successorMilliseconds) {
        await this.#becomeOwner();
        continue;
      }
      await delay(pollMilliseconds);
    }
  }

  async #becomeOwner(): Promise<void> {
    await this.#ownRuntime?.stop();
    this.#ownRuntime = undefined;
    try {
      this.#ownRuntime = await TemporaryRuntime.start(this.#store.persistPath, () =>
        this.#handOver(),
      );
    } catch (error) {
      // Another process may have become the owner first.
      if ((await findStoreOwner(this.#store.folder)) === null) throw error;
    }
  }

  /** Waits for the work in flight, and stops the runtime. */
  async #handOver(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#handover = promise;
    const deadline = Date.now() + drainMilliseconds;
    while (this.#inFlight > 0 && Date.now() < deadline) await delay(pollMilliseconds);
    const runtime = this.#ownRuntime;
    this.#ownRuntime = undefined;
    this.#endpoint = undefined;
    this.#expectsSuccessor = true;
    await runtime?.stop();
    this.#handover = undefined;
    resolve();
  }
}

async function answers(endpoint: EndpointClient): Promise<boolean> {
  try {
    await endpoint.requestBytes("/", { method: "GET" });
    return true;
  } catch {
    return false;
  }
}
