/** Reading a database that no process may change or has open: SQLite would write files beside it. */
import { join } from "node:path";
import type * as Sqlite from "node:sqlite";
import { loadSqlite } from "../base/loading.ts";
import { copyFile, linkFile, sizeOf } from "../state/database-files.ts";
import { OwnFolder } from "../state/runs.ts";

export interface PrivateDatabase {
  readonly database: Sqlite.DatabaseSync;
  readonly close: () => void;
}

/**
 * Opens another name of the database and a copy of its log, for reading.
 *
 * In one process, SQLite takes several names of a file for one database, with one log. So databases that are
 * compared are opened as copies: two states can have the same file, and other logs.
 *
 * @param path of a database that no process has open; its log is beside it
 * @param parent of the folder with the names: on the same device, so that a name is enough
 */
export function openPrivately(
  path: string,
  parent: string,
  { isCopied = false } = {},
): PrivateDatabase {
  const { DatabaseSync } = loadSqlite();
  const folder = new OwnFolder(parent, ".read-");
  try {
    const copy = (isCopied ? copyFile : linkFile)(path, join(folder.path, "database.sqlite"));
    if (sizeOf(`${path}-wal`) > 0) copyFile(`${path}-wal`, `${copy}-wal`);
    const database = new DatabaseSync(copy, { readOnly: true });
    const close = (): void => {
      database.close();
      folder.remove();
    };
    return { database, close };
  } catch (error) {
    folder.remove();
    throw error;
  }
}
