/**
 * The file of a bucket's database, opened for reading beside the runtime that owns it.
 *
 * SQLite lets the first process that opens a database recover its log, under locks that make other
 * processes fail with SQLITE_BUSY; workerd does not wait. So this reader never writes the shared
 * memory of the log (`readonly_shm`): where no other process has the database open, the reader has
 * its own index of the log, and takes no lock that keeps workerd out.
 */
import { createHash, createHmac } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DatabaseSync } from "node:sqlite";
import { loadSqlite } from "../../../state/lock.ts";

const namespaceKey = "ledge-store-bucket";

/** The folder of the databases of all buckets. */
export function databaseFolder(storeFolder: string): string {
  return join(storeFolder, "databases", namespaceKey);
}

/** The path of a bucket's database. workerd derives the name of the file from the bucket's name. */
export function databasePath(storeFolder: string, bucketName: string): string {
  const key = createHash("sha256").update(namespaceKey).digest();
  const start = createHmac("sha256", key).update(bucketName).digest().subarray(0, 16);
  const end = createHmac("sha256", key).update(start).digest().subarray(0, 16);
  const name = Buffer.concat([start, end]).toString("hex");
  return join(databaseFolder(storeFolder), `${name}.sqlite`);
}

/** @throws Error of SQLite when the file is not a database */
export function openDatabaseFile(path: string): DatabaseSync {
  const { DatabaseSync: Database } = loadSqlite();
  // A log index that does not exist cannot be opened for reading only.
  closeSync(openSync(`${path}-shm`, "a", 0o600));
  const url = pathToFileURL(path);
  url.search = "?readonly_shm=1";
  try {
    return new Database(url, { readOnly: true });
  } catch (error) {
    // Node 22.13 and 22.14 take no address.
    if ((error as NodeJS.ErrnoException).code !== "ERR_INVALID_ARG_TYPE") throw error;
    return new Database(path, { readOnly: true });
  }
}

/** What `PRAGMA integrity_check` finds; empty for an intact database. */
export function integrityProblems(database: DatabaseSync): string[] {
  const rows = database.prepare(`PRAGMA integrity_check(${problemsMax})`).all();
  const problems = rows.map((row) => String(Object.values(row)[0]));
  return problems.filter((problem) => problem !== "ok");
}

const problemsMax = 20;

/** The id of a bucket's database, which the marks of its files have (`core/content.ts`). */
export function readDatabaseId(storeFolder: string, bucketName: string): string {
  const database = openDatabaseFile(databasePath(storeFolder, bucketName));
  try {
    return String(database.prepare("SELECT database_id AS id FROM format").get()?.["id"]);
  } finally {
    database.close();
  }
}
