/**
 * The state of a running dev server: saved, restored and reset while the server runs.
 *
 * A restore replaces files that no runtime may have open. There are two ways:
 *
 * - **In place**, in milliseconds. The edge holds new requests. Requests and other invocations that run come to their end,
 *   the runtime ends its Durable Objects, which closes the databases (`closed-databases.ts`), the files are replaced,
 *   and the edge lets the requests go on. The script is not loaded again, so its global variables stay.
 * - **By a restart** of the runtime. It takes seconds, and is right in all other cases: requests that do not end, alarms
 *   that the runtime would not notice, another runtime on the folder, and a dev server that does not observe its
 *   scripts (`--no-explorer`) and so does not know what runs.
 *
 * Each operation waits for the one before.
 */
import { within } from "../base/concurrency.ts";
import type { EdgeWork } from "../edge/core/edge-state.ts";
import type { DevEdge } from "../edge/node/dev-edge.ts";
import { requestEntry, type Invocation } from "../explorer/activity/trace.ts";
import type { PlaceNames, StateDifference } from "../saved/difference.ts";
import { diffSaved, waitForRestart } from "../saved/folder-state.ts";
import { holdStarts, settledRuntimes } from "../saved/journal.ts";
import { Restoration } from "../saved/restoration.ts";
import { freeze, isOnlyUser, type Runtime } from "../saved/runtimes.ts";
import { journalPath, type SavedRecord } from "../saved/saved-record.ts";
import { SavedStates } from "../saved/saved-states.ts";
import type { ResetOptions, Restored, SavedState, StateControl } from "../saved/state-control.ts";
import { hasAwakeObjects, whileClosed } from "./closed-databases.ts";
import type { CompanionDns } from "./companion-dns.ts";

/** How long a restore waits for requests, and for work after their responses. */
const requestMillisecondsDefault = 5000;
/** The tail worker hears of an invocation a moment after its start, which can be after its response. */
const reportMilliseconds = 15;
const pollMilliseconds = 5;

/** To what `reset()` leads, until a state is saved or restored. */
export interface StateBase {
  /** The saved state from which the server has started. */
  readonly base?: string | null;
  /** Saves the project's seed, and returns its name. */
  readonly seed?: () => Promise<string | null>;
}

interface DevStateParts extends StateBase {
  readonly stateFolder: string;
  readonly requestMilliseconds?: number;
  /** `null` where the runtime has no edge, and where what runs is not known. */
  edge(): DevEdge | null;
  readonly dns: CompanionDns | null;
  /** What the configuration calls namespaces and databases. */
  names(): PlaceNames;
  /** Acts while no runtime of the scripts runs. Resolves when the scripts answer again. */
  restart(act: () => Promise<void>): Promise<void>;
  onRestored(news: string): void;
}

interface Target {
  /** `null`: the empty state. */
  readonly record: SavedRecord | null;
  readonly savesUndo: boolean;
}

export class DevState implements StateControl {
  readonly #parts: DevStateParts;
  readonly #states: SavedStates;
  #base: string | null;
  #turns: Promise<unknown> = Promise.resolve();

  constructor(parts: DevStateParts) {
    this.#parts = parts;
    this.#states = new SavedStates(parts.stateFolder);
    this.#base = parts.base ?? null;
  }

  async list(): Promise<readonly SavedState[]> {
    return this.#states.list();
  }

  save(name: string, options?: { readonly replace?: boolean }): Promise<SavedState> {
    return this.#inTurn(async () => {
      const saved = await this.#states.save(name, options);
      this.#base = name;
      return saved;
    });
  }

  restore(name: string): Promise<Restored> {
    return this.#inTurn(async () => {
      const restored = await this.#restore(this.#states.find(name), true);
      this.#base = name;
      return restored;
    });
  }

  reset({ savesUndo = false }: ResetOptions = {}): Promise<Restored> {
    return this.#inTurn(async () => {
      const name = this.#base ?? (await this.#parts.seed?.()) ?? null;
      return this.#restore(name === null ? null : this.#states.find(name), savesUndo);
    });
  }

  delete(name: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#states.delete(name);
      if (this.#base === name) this.#base = null;
    });
  }

  diff(from: string, to?: string): Promise<StateDifference> {
    return this.#inTurn(() => diffSaved(this.#states, from, to, this.#parts.names()));
  }

  /** Waits for the operation that runs. */
  async idle(milliseconds: number): Promise<void> {
    await within(milliseconds, this.#turns);
  }

  #inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = this.#turns.then(act);
    this.#turns = result.catch(() => {});
    return result;
  }

  async #restore(record: SavedRecord | null, savesUndo: boolean): Promise<Restored> {
    const start = performance.now();
    const edge = this.#parts.edge();
    await edge?.hold();
    try {
      const target: Target = { record, savesUndo };
      const running = edge === null ? null : await this.#awaitRequests(edge);
      const endsInPlace = running?.every(({ isSocket }) => isSocket) === true;
      const inPlace = endsInPlace
        ? await this.#restoreInPlace(target, edge as DevEdge, running)
        : null;
      const { undo } = inPlace ?? (await this.#restoreByRestart(target));
      const name = record?.name ?? null;
      const restored = {
        name,
        undo,
        ended: (running ?? []).map(({ text }) => text),
        isRestarted: inPlace === null,
      };
      const milliseconds = Math.round(performance.now() - start);
      this.#parts.onRestored(renderRestored(restored, { savesUndo, milliseconds }));
      return restored;
    } finally {
      await edge?.release();
    }
  }

  /** @returns what has not ended in time; `null` if the runtime does not tell */
  async #awaitRequests(edge: DevEdge): Promise<readonly RunningWork[] | null> {
    const { requestMilliseconds = requestMillisecondsDefault } = this.#parts;
    const deadline = Date.now() + requestMilliseconds;
    for (;;) {
      const work = await edge.work().catch(() => null);
      if (work === null || work.invocations === null) return null;
      const running = runningWork(work);
      // A WebSocket that leads to a Durable Object ends with the object.
      const isEnough = running.every(({ isSocket }) => isSocket) || Date.now() > deadline;
      if (isEnough && work.now - work.answeredAt >= reportMilliseconds) return running;
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
  }

  /** @returns `null` if this way does not lead to the state: then no file was replaced */
  async #restoreInPlace(
    { record, savesUndo }: Target,
    edge: DevEdge,
    sockets: readonly RunningWork[],
  ): Promise<{ readonly undo: string | null } | null> {
    const { stateFolder, dns } = this.#parts;
    const { processId } = edge;
    if (processId === null) return null;
    const restoration = await Restoration.begin(stateFolder, record);
    try {
      const { isNeeded, changesAlarms, changesDns } = restoration;
      if (changesAlarms || (changesDns && dns?.isOwner !== true)) return null;
      if (!isOnlyUser(stateFolder, processId, restoration.present)) return null;
      const isUsed = sockets.length > 0 || hasAwakeObjects(stateFolder, processId);
      if (!isNeeded && !isUsed) return { undo: null };
      if (savesUndo) restoration.prepareUndo();
      let isApplied = false;
      const apply = async (): Promise<void> => {
        const runtime = {
          processId,
          abortObjects: () => edge.abortObjects(),
          // A runtime that has ended runs nothing.
          isQuiet: async () => {
            const work = await edge.work().catch(() => null);
            return work === null || runningWork(work).length === 0;
          },
        };
        const endHold = await holdStarts(stateFolder);
        try {
          const runtimes = savesUndo ? await settledRuntimes(stateFolder) : [];
          const zones = runtimes.filter(({ isOfDns }) => isOfDns);
          isApplied = await whileClosed(stateFolder, runtime, restoration, () =>
            whileStill(stateFolder, zones, () => restoration.apply({ keepsAlarms: true })),
          );
        } finally {
          endHold();
        }
      };
      if (changesDns) await dns?.whileEnded(apply);
      else await apply();
      return isApplied ? restoration : null;
    } finally {
      restoration.end();
    }
  }

  async #restoreByRestart({
    record,
    savesUndo,
  }: Target): Promise<{ readonly undo: string | null }> {
    const { stateFolder, dns } = this.#parts;
    let others: Runtime[] = [];
    let undo: string | null = null;
    await this.#parts.restart(async () => {
      const restoration = await Restoration.begin(stateFolder, record);
      const { changesDns } = restoration;
      const apply = async (): Promise<void> => {
        const endHold = await holdStarts(stateFolder);
        try {
          const runtimes = await settledRuntimes(stateFolder);
          // The companion worker of this process goes on.
          const zones = runtimes.filter(({ isOfDns }) => isOfDns && !changesDns);
          others = runtimes.filter((each) => !zones.includes(each));
          const frozen = freeze(others, journalPath(stateFolder));
          try {
            whileStill(stateFolder, zones, () => restoration.apply());
            // The tools that have started them start others.
            frozen.kill();
          } finally {
            frozen.end();
          }
        } finally {
          endHold();
        }
      };
      try {
        if (savesUndo) restoration.prepareUndo();
        if (changesDns && dns?.isOwner === true) await dns.whileEnded(apply);
        else await apply();
        ({ undo } = restoration);
      } finally {
        restoration.end();
      }
    });
    await waitForRestart(stateFolder, others);
    return { undo };
  }
}

/** Acts while runtimes of zones, which are a part of what is saved, stand still, and lets them go on. */
function whileStill(stateFolder: string, zones: readonly Runtime[], act: () => void): void {
  const frozen = freeze(zones, journalPath(stateFolder));
  try {
    act();
  } finally {
    frozen.thaw();
  }
}

interface RunningWork {
  readonly text: string;
  readonly isSocket: boolean;
}

/** What runs, in words. A request without an invocation is before or behind the script. */
export function runningWork({ requests, invocations, now }: EdgeWork): RunningWork[] {
  const running = new Map<string, { readonly at: number; readonly isSocket: boolean }>();
  const known = (invocations ?? []) as (Invocation & { readonly isSocket: boolean })[];
  for (const { id, events, isSocket } of known) {
    const invocation = { id, events, dropped: 0, reportedAt: now, isRunning: true };
    const { method, url, at } = requestEntry(invocation);
    const { pathname, search } = URL.parse(url) ?? { pathname: url, search: "" };
    const name = `${method} ${pathname}${search}`.trimEnd();
    // The invocation of the object behind a WebSocket does not tell of it.
    const { isSocket: isKnownSocket = false } = running.get(name) ?? {};
    running.set(name, { at, isSocket: isSocket || isKnownSocket });
  }
  for (const { name, at } of requests) {
    running.set(name, running.get(name) ?? { at, isSocket: false });
  }
  return Array.from(running, ([name, { at, isSocket }]) => ({
    text: `${name}, which ran for ${renderSeconds(now - at)}`,
    isSocket,
  }));
}

function renderSeconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`;
}

export function renderRestored(
  { name, undo, ended, isRestarted }: Restored,
  { savesUndo, milliseconds }: { readonly savesUndo: boolean; readonly milliseconds: number },
): string {
  const state = name === null ? "the empty state" : `"${name}"`;
  const time = isRestarted ? renderSeconds(milliseconds) : `${milliseconds} ms`;
  return [
    `${savesUndo ? "Restored" : "Reset to"} ${state} in ${time}.`,
    ...(undo === null ? [] : [`What was there before is saved as "${undo}".`]),
    ...ended.map((each) => `Ended ${each}.`),
  ].join(" ");
}
