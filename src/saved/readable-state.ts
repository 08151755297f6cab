/** A state whose databases and values can be read: a saved state, or what is there now (`captureNow()`). */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { isDatabase } from "./layout.ts";
import { openPrivately, type PrivateDatabase } from "./private-database.ts";
import type { RecordedDatabase, SavedRecord } from "./saved-record.ts";

export interface ReadableState {
  /** Paths below the folder of Miniflare (`v3`), with `/`. */
  readonly databases: readonly string[];
  /** The sizes of the values, by path. */
  readonly values: ReadonlyMap<string, number>;
  /** Opens a database of `databases` for reading, in a private copy. */
  openDatabase(path: string): DatabaseSync;
  /** Whether both states have the same files of the database, so that nothing has to be compared. */
  hasSameDatabase(path: string, other: ReadableState): boolean;
  /** Identifies the files of a database; `null` when the state does not have it. */
  identityOf(path: string): string | null;
  /** The file of a value of `values`. */
  valuePath(path: string): string;
  /** Closes the databases, and removes the copies. */
  close(): void;
}

export function readState(record: SavedRecord): ReadableState {
  const opened = new Map<string, PrivateDatabase>();
  const state: ReadableState = {
    databases: record.databases.map(({ path }) => path).filter(isDatabase),
    values: record.values,
    valuePath: (path) => record.valuePath(path),
    openDatabase(path) {
      const found =
        opened.get(path) ?? openPrivately(record.copyPath(path), record.parent, { isCopied: true });
      opened.set(path, found);
      return found.database;
    },
    identityOf(path) {
      const found = record.databases.find((each) => each.path === path);
      return found === undefined ? null : identity(record.copyPath(path), found);
    },
    hasSameDatabase(path, other) {
      const own = state.identityOf(path);
      return own !== null && own === other.identityOf(path);
    },
    close() {
      for (const { close } of opened.values()) close();
      opened.clear();
    },
  };
  return state;
}

function identity(copy: string, { logBytes, logMark }: RecordedDatabase): string {
  const { dev, ino } = statSync(copy);
  return `${dev}:${ino} ${logBytes} ${logMark}`;
}
