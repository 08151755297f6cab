/**
 * The state of a folder without a dev server of Ledge: while no process uses it, or beside the runtimes of other tools
 * and of commands.
 *
 * A restore beside runtimes freezes them, replaces the files, and kills them; the tools that have started them
 * start others. None starts meanwhile (`holdStarts`).
 */
import { setTimeout as delay } from "node:timers/promises";
import { describePrograms, type Runtime } from "./runtimes.ts";
import { diffStates, type PlaceNames, type StateDifference } from "./difference.ts";
import { holdStarts, settledRuntimes, whileFrozen } from "./journal.ts";
import { readState } from "./readable-state.ts";
import { Restoration } from "./restoration.ts";
import type { SavedRecord } from "./saved-record.ts";
import { SavedStates } from "./saved-states.ts";
import type { ResetOptions, Restored, SavedState, StateControl } from "./state-control.ts";

export interface FolderStateOptions {
  /** Saves the seed of the project, and returns its name; `null` without a seed. */
  readonly seed?: () => Promise<string | null>;
  /** What the configuration calls namespaces and databases, for `diff()`. */
  readonly names?: PlaceNames;
}

export class FolderState implements StateControl {
  readonly #folder: string;
  readonly #states: SavedStates;
  readonly #options: FolderStateOptions;

  /** @param stateFolder `.wrangler/state` */
  constructor(stateFolder: string, options: FolderStateOptions = {}) {
    this.#folder = stateFolder;
    this.#states = new SavedStates(stateFolder);
    this.#options = options;
  }

  async list(): Promise<readonly SavedState[]> {
    return this.#states.list();
  }

  save(name: string, options?: { readonly replace?: boolean }): Promise<SavedState> {
    return this.#states.save(name, options);
  }

  restore(name: string): Promise<Restored> {
    return this.#restore(() => this.#states.find(name), true);
  }

  async reset({ savesUndo = false }: ResetOptions = {}): Promise<Restored> {
    const seed = (await this.#options.seed?.()) ?? null;
    return this.#restore(() => (seed === null ? null : this.#states.find(seed)), savesUndo);
  }

  delete(name: string): Promise<void> {
    return this.#states.delete(name);
  }

  diff(from: string, to?: string): Promise<StateDifference> {
    return diffSaved(this.#states, from, to, this.#options.names);
  }

  async #restore(find: () => SavedRecord | null, savesBefore: boolean): Promise<Restored> {
    const record = find();
    const restoration = await Restoration.begin(this.#folder, record);
    try {
      const name = record?.name ?? null;
      if (!restoration.isNeeded) return { name, undo: null, ended: [], isRestarted: false };
      if (savesBefore) restoration.prepareUndo();
      const runtimes = await whileFrozen(this.#folder, (frozen) => {
        restoration.apply();
        frozen.kill();
      });
      const ended = describePrograms(runtimes).map((each) => `the requests to ${each}`);
      await waitForRestart(this.#folder, runtimes);
      return { name, undo: restoration.undo, ended, isRestarted: runtimes.length > 0 };
    } finally {
      restoration.end();
    }
  }
}

/** For a tool to start a runtime again, on a busy machine. */
const restartMilliseconds = 20_000;
const pollMilliseconds = 50;

/**
 * Returns when the tools have started their runtimes again. wrangler ends when a request arrives before. A tool
 * that does not start its runtime again has ended, or says so itself.
 */
export async function waitForRestart(
  stateFolder: string,
  ended: readonly Runtime[],
): Promise<void> {
  if (ended.length === 0) return;
  const deadline = Date.now() + restartMilliseconds;
  for (;;) {
    const running = await settledRuntimes(stateFolder);
    const isRestarted = ended.every(
      ({ parentId }) =>
        !isAlive(parentId) || startedBy(running, parentId) >= startedBy(ended, parentId),
    );
    if (isRestarted || Date.now() > deadline) break;
    await delay(pollMilliseconds);
  }
  // A runtime has its turn to start until it listens.
  (await holdStarts(stateFolder))();
}

function startedBy(runtimes: readonly Runtime[], processId: number): number {
  return runtimes.filter(({ parentId }) => parentId === processId).length;
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}

/** @param to a saved state; without it, what is there now */
export async function diffSaved(
  states: SavedStates,
  from: string,
  to: string | undefined,
  names?: PlaceNames,
): Promise<StateDifference> {
  const first = states.find(from);
  const last =
    to === undefined ? await states.captureNow() : { record: states.find(to), end(): void {} };
  const [one, other] = [readState(first), readState(last.record)];
  try {
    return diffStates(one, other, names);
  } finally {
    one.close();
    other.close();
    last.end();
  }
}
