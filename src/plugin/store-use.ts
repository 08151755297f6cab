/**
 * How a Miniflare uses the store in a folder: as the owner or as a client
 * (`store/node/store-owner.ts`), from its first runtime to its end.
 *
 * Miniflare does not tell a plugin when it ends. But a plugin sees the processes of its Miniflare.
 * Miniflare asks for services before it replaces a runtime, so a runtime that ends by the hand of
 * this process, and for which no other services were asked, was the last.
 */
import { setTimeout as delay } from "node:timers/promises";
import { observeRuntimesAt } from "../base/child-processes.ts";
import type { FolderOwner } from "../base/folder-owner.ts";
import { isListening } from "../base/ports.ts";
import { markChildren, type ProcessIdentity } from "../base/processes.ts";
import type { Succession } from "../base/succession.ts";
import { claimStore, offeredOwner, storeRuns } from "../store/node/store-owner.ts";
import { succeedStoreOwner, type StoreFolder } from "../store/node/store-successor.ts";
import { isEndpointSocket, publishEndpoint } from "./endpoint-socket.ts";
import { shareStartTurn } from "./start-turn.ts";

interface StoreRun {
  readonly runId: string;
  /** Where Miniflare listens until its end. */
  readonly loopbackHost: string;
  readonly loopbackPort: number;
  /** Names an owner that the process has taken for this Miniflare. */
  readonly ownerToken: string | undefined;
}

const watchMilliseconds = 500;

/** By the loopback port of each Miniflare. */
const uses = new Map<number, StoreUse>();

export class StoreUse {
  readonly #store: StoreFolder;
  #owner: FolderOwner | null = null;
  #succession: Succession | undefined;
  /** The use of another folder, until the runtime that uses it has ended. */
  #previous: StoreUse | undefined;
  /** The run for which Miniflare has asked for services last. */
  #nextRunId = "";
  /** The run of the runtime that runs. */
  #runId = "";
  #endStart: () => void = () => {};
  /** Whether another part of the process has taken the folder, and gives it up. */
  #isOffered = false;

  private constructor(store: StoreFolder, previous: StoreUse | undefined) {
    this.#store = store;
    this.#previous = previous;
  }

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  static async begin(store: StoreFolder, run: StoreRun): Promise<StoreUse> {
    const last = uses.get(run.loopbackPort);
    const isSame = last !== undefined && last.#store.folder === store.folder;
    const use = isSame ? last : new StoreUse(store, last);
    uses.set(run.loopbackPort, use);
    await use.#begin(run);
    return use;
  }

  get isOwner(): boolean {
    return this.#owner !== null;
  }

  async #begin(run: StoreRun): Promise<void> {
    const { runId, loopbackPort, ownerToken } = run;
    markChildren();
    const { folder, persistPath } = this.#store;
    this.#isOffered = ownerToken !== undefined;
    this.#owner ??= ownerToken === undefined ? await claimStore(folder) : offeredOwner(ownerToken);
    if (this.#owner === null) this.#succession ??= succeedStoreOwner(this.#store);
    else {
      void this.#succession?.stop();
      this.#succession = undefined;
    }
    this.#nextRunId = runId;
    storeRuns(folder).write(runId);
    this.#endStart = await shareStartTurn(persistPath, loopbackPort);
    observeRuntimesAt(loopbackPort, "store", {
      onStart: (runtime) => this.#onStart(runtime),
      onListen: (socketName) => this.#onListen(socketName, runId),
      onExit: (isKilled) => this.#onExit(isKilled, run),
    });
    void this.#watchStart(run);
  }

  #onStart(runtime: ProcessIdentity): void {
    this.#runId = this.#nextRunId;
    storeRuns(this.#store.folder).write(this.#runId, runtime);
    this.#owner?.recordRuntime(runtime);
  }

  #onListen(socketName: string, runId: string): void {
    this.#endStart();
    if (isEndpointSocket(socketName)) publishEndpoint(this.#store.folder, runId);
  }

  #onExit(isKilled: boolean, run: StoreRun): void {
    if (this.#previous !== undefined) {
      this.#previous.#end(run);
      this.#previous = undefined;
      return;
    }
    storeRuns(this.#store.folder).remove(this.#runId);
    if (this.#runId !== this.#nextRunId) return;
    // The runtime has ended before it was ready, or has crashed. Miniflare starts a crashed runtime
    // again, and asks for services before.
    this.#endStart();
    this.#runId = "";
    if (isKilled) this.#end(run);
    else void this.#watchStart(run);
  }

  /** Until the runtime starts, a Miniflare that has ended is seen by its port. */
  async #watchStart(run: StoreRun): Promise<void> {
    const { loopbackHost, loopbackPort, runId } = run;
    for (;;) {
      await delay(watchMilliseconds, undefined, { ref: false });
      if (this.#nextRunId !== runId || this.#runId === runId) return;
      if (!(await isListening(loopbackHost, loopbackPort))) return this.#end(run);
    }
  }

  #end({ loopbackPort }: StoreRun): void {
    if (uses.get(loopbackPort) === this) uses.delete(loopbackPort);
    this.#endStart();
    storeRuns(this.#store.folder).remove(this.#nextRunId);
    if (!this.#isOffered) this.#owner?.release();
    void this.#succession?.stop();
  }
}
