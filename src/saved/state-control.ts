/**
 * The interface of a project's state: saved states, and the way back to them.
 *
 * A state is everything that is kept below the state folder, of all bindings at one moment. The dev server
 * (`dev/dev-state.ts`), a folder without one (`folder-state.ts`) and a client of the explorer's server
 * implement this interface, so the command line, the page and end-to-end tests do the same.
 */
import type { StateDifference } from "./difference.ts";
import type { SavedState } from "./saved-record.ts";

export type { SavedState } from "./saved-record.ts";

export interface Restored {
  /** `null` for the empty state. */
  readonly name: string | null;
  /** The automatic saved state with what was there before; `null` when nothing differed, or was not to be saved. */
  readonly undo: string | null;
  /** The requests that were ended, in words: "GET /slow, which ran for 5 s". */
  readonly ended: readonly string[];
  /** Whether a runtime was started again. */
  readonly isRestarted: boolean;
}

export interface ResetOptions {
  /** Whether what is there is saved first, as by a restore. A test does not need that. */
  readonly savesUndo?: boolean;
}

export interface StateControl {
  /** The newest first. */
  list(): Promise<readonly SavedState[]>;
  save(name: string, options?: { readonly replace?: boolean }): Promise<SavedState>;
  /** Saves what is there now first, under a name of its own. */
  restore(name: string): Promise<Restored>;
  /** Restores the state that the folder began with, and does not save what is there now. */
  reset(options?: ResetOptions): Promise<Restored>;
  delete(name: string): Promise<void>;
  /** @param to a saved state; without it, what is there now */
  diff(from: string, to?: string): Promise<StateDifference>;
}
