/**
 * The state of the project, saved and restored: buckets, zones, and all other bindings. Programs such as
 * test runners call these paths, too, with the header `Authorization: Bearer TOKEN`.
 *
 *     GET    /api/state                              StateList
 *     POST   /api/state/save     { name, replace? }  SavedState       "replace": also a state that exists
 *     POST   /api/state/restore  { name }            Restored
 *     POST   /api/state/reset[?undo=true]            Restored
 *     GET    /api/state/diff     ?from &to           StateDifference    without "to": what is there now
 *     DELETE /api/state/:name                        null
 *
 * Status 404: there is no such state. Status 409: the state cannot be saved or restored, for example because the
 * name exists. Each has a sentence.
 */
export interface StateList {
  readonly states: readonly SavedState[];
}

export interface SavedState {
  readonly name: string;
  /** ISO 8601 */
  readonly savedAt: string;
  readonly bytes: number;
  /** Made by a restore, which saves what was there before, or by a seed. */
  readonly isAutomatic: boolean;
}

export interface Restored {
  /** `null`: the empty state. */
  readonly name: string | null;
  /** The saved state that has what was there before; `null` if nothing differed, or was not to be saved. */
  readonly undo: string | null;
  /** Requests that were ended, in words: "GET /slow, which ran for 5 s" */
  readonly ended: readonly string[];
  /** Whether a runtime was started again. */
  readonly isRestarted: boolean;
}

export interface StateDifference {
  readonly changes: readonly StateChange[];
}

export interface StateChange {
  readonly kind: "bucket" | "zone" | "KV" | "D1" | "R2" | "cache" | "Durable Object" | "other";
  /** The bucket, zone, namespace or database. */
  readonly place: string;
  /** A key, "table users: row 3", "www A 192.0.2.1" */
  readonly what: string;
  readonly change: "added" | "removed" | "changed";
}
