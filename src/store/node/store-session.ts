/**
 * A command's access to a store, whoever has it at the moment.
 *
 * Where a runtime is running, the command goes through its endpoint; where none is, it starts one.
 * Either may change while the command works: a dev server ends, restarts or comes. Then the endpoint
 * closes, and what was being done is done again through the next one. So all that a command asks
 * for must be fit to be asked twice.
 */
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { EndpointClient, EndpointClosedError } from "./endpoint-client.ts";
import { OwnRuntime } from "./command-runtime.ts";
import { findStoreOwner } from "./store-owner.ts";
import type { StoreProject } from "../../cli/store/project.ts";

const attemptsMax = 5;
const pollMilliseconds = 50;
/** A dev server that starts or restarts opens its endpoint within this time. */
const answerMilliseconds = 30_000;
/** After making way: whoever asked for it will be there soon. */
const successorMilliseconds = 5_000;
/** A transfer gets so much time to end before the command makes way. */
const drainMilliseconds = 10_000;

export class StoreSession {
  readonly #project: StoreProject;
  #endpoint: Promise<EndpointClient> | undefined;
  #own: OwnRuntime | undefined;
  /** While the store changes hands, nothing begins. */
  #closed: Promise<void> | undefined;
  #going = 0;
  #expectsSuccessor = false;

  constructor(project: StoreProject) {
    this.#project = project;
  }

  /** Does `work`, and does it again should the runtime go away meanwhile. */
  async run<Result>(work: (endpoint: EndpointClient) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      await this.#closed;
      const opening = (this.#endpoint ??= this.#open());
      const endpoint = await opening;
      this.#going++;
      try {
        return await work(endpoint);
      } catch (error) {
        if (!(error instanceof EndpointClosedError)) throw error;
        if (attempt === attemptsMax) {
          throw new UserError(
            `The runtime that has the store does not answer (${error.message}). Try again.`,
          );
        }
        if (this.#endpoint === opening) this.#endpoint = undefined;
        endpoint.close();
      } finally {
        this.#going--;
      }
    }
  }

  async close(): Promise<void> {
    const endpoint = await this.#endpoint?.catch(() => undefined);
    endpoint?.close();
    await this.#own?.stop();
    this.#own = undefined;
  }

  async #open(): Promise<EndpointClient> {
    const start = Date.now();
    for (;;) {
      const owner = await findStoreOwner(this.#project.folder);
      if (owner?.endpoint !== undefined) {
        const endpoint = new EndpointClient(owner.endpoint);
        if (await answers(endpoint)) return endpoint;
        endpoint.close();
        if (Date.now() - start > answerMilliseconds) {
          throw new UserError(
            `Process ${owner.processId} has the store in ${this.#project.folder}, and does not ` +
              "answer. Stop it, and try again.",
          );
        }
      } else if (!this.#expectsSuccessor || Date.now() - start > successorMilliseconds) {
        await this.#startOwn();
        continue;
      }
      await delay(pollMilliseconds);
    }
  }

  async #startOwn(): Promise<void> {
    await this.#own?.stop();
    this.#own = undefined;
    try {
      this.#own = await OwnRuntime.start(this.#project.persistPath, () => this.#makeWay());
    } catch (error) {
      // Somebody else may have been faster.
      if ((await findStoreOwner(this.#project.folder)) === null) throw error;
    }
  }

  /** Lets what is going on end, and gives the store up. */
  async #makeWay(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = promise;
    const deadline = Date.now() + drainMilliseconds;
    while (this.#going > 0 && Date.now() < deadline) await delay(pollMilliseconds);
    const own = this.#own;
    this.#own = undefined;
    this.#endpoint = undefined;
    this.#expectsSuccessor = true;
    await own?.stop();
    this.#closed = undefined;
    resolve();
  }
}

async function answers(endpoint: EndpointClient): Promise<boolean> {
  try {
    await endpoint.askBytes("/", { method: "GET" });
    return true;
  } catch {
    return false;
  }
}
