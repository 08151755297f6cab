/**
 * Makes each database of a state folder one whole file.
 *
 * workerd writes commits to SQLite's log (`-wal`) and never closes its databases, because it ends by
 * a signal: the `.sqlite` file can be a single empty page while all tables are in the log. A copy of
 * the `.sqlite` files alone would lose everything. So the owner moves the logs into the databases
 * when its runtime has ended, before it gives the folder up.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadSqlite } from "../base/loading.ts";

/** The folders of databases: of the store, and of the zones. */
const databaseFolders = ["databases", "do"];
const logSuffix = "-wal";
/** For a reader that has a database open. */
const busyMilliseconds = 1_000;

/**
 * Only the owner may call this, while no runtime has the databases open. A log that cannot be moved,
 * because the device is full or a reader does not end, stays and loses nothing.
 */
export function checkpointDatabases(stateFolder: string): void {
  for (const folder of databaseFolders) {
    for (const name of filesBelow(join(stateFolder, folder))) {
      if (name.endsWith(logSuffix))
        checkpoint(join(stateFolder, folder, name.slice(0, -logSuffix.length)));
    }
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}

function checkpoint(path: string): void {
  const { DatabaseSync } = loadSqlite();
  try {
    const database = new DatabaseSync(path, { timeout: busyMilliseconds });
    try {
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      // The last connection removes the log and its index.
      database.close();
    }
  } catch {
    // A damaged database says so when it is used.
  }
}
