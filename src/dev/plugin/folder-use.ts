/**
 * How a Miniflare uses a folder, from its first runtime to its end.
 *
 * Miniflare does not tell a plugin when it ends. But a plugin sees the processes of its Miniflare.
 * Miniflare asks for services before it replaces a runtime, so a runtime that ends by the hand of
 * this process, and for which no other services were asked, was the last.
 */
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isListening } from "../../base/ports.ts";
import { observeRuntimesAt } from "../../base/programs.ts";
import { finishRestoration } from "../../saved/journal.ts";
import { takeStartTurn } from "../../state/lock.ts";
import { markPath } from "../../state/owner.ts";
import { beginRun, endRun } from "../../state/runs.ts";

export interface MiniflareRun {
  readonly runId: string;
  readonly persistPath: string;
  /** Where Miniflare listens until its end. */
  readonly loopbackHost: string;
  readonly loopbackPort: number;
}

const watchMilliseconds = 500;

export abstract class FolderUse {
  readonly folder: string;
  readonly #plugin: string;
  /** By the loopback port of each Miniflare. */
  readonly #uses: Map<number, FolderUse>;
  /** The use of another folder by the same Miniflare, which ends when its runtime ends. */
  #previous: FolderUse | undefined;
  /** The run for which Miniflare has asked for services last. */
  #nextRunId = "";
  /** The run of the runtime that runs. */
  #runId = "";
  #endStart: () => void = () => {};

  /** @param uses the uses of the plugin, by the loopback port of each Miniflare */
  constructor(plugin: string, folder: string, uses: Map<number, FolderUse>, loopbackPort: number) {
    this.#plugin = plugin;
    this.folder = folder;
    this.#uses = uses;
    this.#previous = uses.get(loopbackPort);
    uses.set(loopbackPort, this);
  }

  protected onListen?(socketName: string, runId: string): void;
  /** Miniflare has ended, or uses another folder. */
  protected abstract onEnd(): void;

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  protected async beginRun(run: MiniflareRun, isOwner: boolean): Promise<void> {
    const { runId, persistPath, loopbackPort } = run;
    this.#nextRunId = runId;
    beginRun(this.folder, runId);
    this.#endStart = await shareStartTurn(persistPath, loopbackPort);
    observeRuntimesAt(loopbackPort, this.#plugin, {
      ...(isOwner && { mark: markPath(this.folder) }),
      onStart: () => (this.#runId = this.#nextRunId),
      onListen: (socketName) => {
        this.#endStart();
        this.onListen?.(socketName, runId);
      },
      onExit: (isKilled) => this.#onExit(isKilled, run),
    });
    void this.#watchStart(run);
  }

  #onExit(isKilled: boolean, run: MiniflareRun): void {
    if (this.#previous !== undefined) {
      this.#previous.#end(run.loopbackPort);
      this.#previous = undefined;
      return;
    }
    endRun(this.folder, this.#runId);
    if (this.#runId !== this.#nextRunId) return;
    // The runtime has ended before it was ready, or has crashed. Miniflare starts a crashed runtime
    // again, and asks for services before.
    this.#endStart();
    this.#runId = "";
    if (isKilled) this.#end(run.loopbackPort);
    else void this.#watchStart(run);
  }

  /** Until the runtime starts, a Miniflare that has ended is seen by its port. */
  async #watchStart({ loopbackHost, loopbackPort, runId }: MiniflareRun): Promise<void> {
    for (;;) {
      await delay(watchMilliseconds, undefined, { ref: false });
      if (this.#nextRunId !== runId || this.#runId === runId) return;
      if (!(await isListening(loopbackHost, loopbackPort))) return this.#end(loopbackPort);
    }
  }

  #end(loopbackPort: number): void {
    this.#endStart();
    endRun(this.folder, this.#nextRunId);
    if (this.#uses.get(loopbackPort) === this) {
      this.#uses.delete(loopbackPort);
      // Another Miniflare may get the port.
      observeRuntimesAt(loopbackPort, this.#plugin, {});
    }
    this.onEnd();
  }
}

/** By the loopback port of each Miniflare. */
const turns = new Map<number, Promise<() => void>>();

/**
 * The turn of a Miniflare to start a runtime (`state/lock.ts`), which all its plugins share. In its turn, it finishes
 * what a restoration of the state has left.
 *
 * @returns a function that ends the turn; a second call does nothing
 */
async function shareStartTurn(persistPath: string, loopbackPort: number): Promise<() => void> {
  const turn = turns.get(loopbackPort) ?? takeStartTurn(persistPath);
  turns.set(loopbackPort, turn);
  const forget = (): void => {
    if (turns.get(loopbackPort) === turn) turns.delete(loopbackPort);
  };
  try {
    const end = await turn;
    await finishRestoration(dirname(persistPath));
    return () => {
      forget();
      end();
    };
  } catch (error) {
    forget();
    throw error;
  }
}
