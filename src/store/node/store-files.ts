/**
 * The files of a store: a folder of `blobs` and a database for each bucket.
 *
 * A bucket exists if its folder does. Every runtime makes the folders of its configured buckets, and a
 * request to create a bucket makes another. A folder cannot be removed while a file is in it, and a process
 * may be writing a file for a put that the deleted bucket is going to refuse. So a deleted bucket whose
 * folder is not empty gets a mark, and counts as absent. The next owner removes what is left, with the
 * database.
 *
 * A database is opened for reading beside the runtime that owns it. SQLite lets the first process that opens
 * a database recover its log, under locks that make other processes fail with SQLITE_BUSY; workerd does not
 * wait. So this reader never writes the shared memory of the log (`readonly_shm`): where no other process
 * has the database open, the reader has its own index of the log, and takes no lock that keeps workerd out.
 */
import { createHash, createHmac } from "node:crypto";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { loadSqlite } from "../../base/loading.ts";
import {
  bucketFolder,
  bucketOfFolder,
  isAbandoned,
  isDatabaseMark,
  isForeignMark,
  isTemporary,
  writerOf,
  type DatabaseState,
} from "../core/content.ts";

/** The empty file in the folder of a deleted bucket. */
const deletedMark = "bucket.deleted";

/** Names of configured buckets, and of others. No other name is the name of a folder. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export interface BucketRecord {
  readonly name: string;
  readonly created: number;
}

export class BucketFolders {
  readonly #blobs: string;

  constructor(storeFolder: string) {
    this.#blobs = join(storeFolder, "blobs");
  }

  async list(): Promise<BucketRecord[]> {
    const folders = await readdir(this.#blobs).catch(() => []);
    const found = await Promise.all(folders.map((folder) => this.find(bucketOfFolder(folder))));
    return found
      .filter((bucket) => bucket !== null)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** `null` when the bucket does not exist. */
  async find(name: string): Promise<BucketRecord | null> {
    if (!namePattern.test(name)) return null;
    const folder = this.#path(name);
    const [found, mark] = await Promise.all(
      [folder, join(folder, deletedMark)].map((path) => stat(path).catch(() => null)),
    );
    if (!found?.isDirectory() || mark !== null) return null;
    // Some file systems have no time of birth.
    const { birthtimeMs, ctimeMs } = found;
    return { name, created: Math.floor(birthtimeMs > 0 ? birthtimeMs : ctimeMs) };
  }

  async create(name: string): Promise<void> {
    await mkdir(this.#path(name), { recursive: true, mode: 0o700 });
    rmSync(join(this.#path(name), deletedMark), { force: true });
  }

  /** The bucket is empty, and refuses what would fill it. */
  delete(name: string): void {
    const folder = this.#path(name);
    if (removeEmpty(folder)) return;
    writeFileSync(join(folder, deletedMark), "", { mode: 0o600 });
  }

  #path(name: string): string {
    return join(this.#blobs, bucketFolder(name));
  }
}

/**
 * Removes the folders and the databases of deleted buckets. Only the owner may call this, and only
 * while no runtime has the databases open.
 */
export function removeDeletedBuckets(storeFolder: string): void {
  try {
    const blobs = join(storeFolder, "blobs");
    const folders = entries(blobs);
    const remaining = folders.filter((folder) => !removeMarked(join(blobs, folder)));
    const known = new Set(
      remaining.map((folder) => databasePath(storeFolder, bucketOfFolder(folder))),
    );
    for (const file of entries(databaseFolder(storeFolder))) {
      const path = join(databaseFolder(storeFolder), file);
      if (!/^[0-9a-f]{64}\.sqlite$/.test(file) || known.has(path) || !isDeleted(path)) continue;
      for (const suffix of ["-wal", "-shm", ""]) rmSync(path + suffix, { force: true });
    }
  } catch (error) {
    console.warn(`Cannot remove deleted buckets in ${storeFolder}: ${(error as Error).message}`);
  }
}

/** Whether the folder was that of a deleted bucket, and is gone. */
function removeMarked(folder: string): boolean {
  const files = entries(folder);
  if (files.length !== 1 || files[0] !== deletedMark) return false;
  rmSync(join(folder, deletedMark), { force: true });
  return removeEmpty(folder);
}

/** Whether a database is that of a deleted bucket, and holds nothing. */
function isDeleted(path: string): boolean {
  let database;
  try {
    database = openDatabaseFile(path);
    const query =
      "SELECT 1 FROM settings WHERE name = 'deleted' " +
      "AND NOT EXISTS (SELECT 1 FROM objects) AND NOT EXISTS (SELECT 1 FROM blobs)";
    return database.prepare(query).get() !== undefined;
  } catch {
    // An earlier format, or a damaged file: neither says that the bucket was deleted.
    return false;
  } finally {
    database?.close();
  }
}

function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Removes the files that a killed runtime was writing: temporary files of runs that have ended and, where
 * the name does not say the run, those that were last written before every run that is recorded now. The
 * disk service does not list them, so the bucket cannot collect them with other garbage
 * (`bucket/bucket-object.ts`). Runs while the runtime starts: nothing depends on the result.
 */
export async function removePartialFiles(blobsFolder: string, runsFolder: string): Promise<void> {
  try {
    const files = await readdir(blobsFolder, { recursive: true, withFileTypes: true });
    const temporary = files.filter((file) => file.isFile() && isTemporary(file.name));
    if (temporary.length === 0) return;
    const activeRuns = await readdir(runsFolder);
    const starts = activeRuns.map((name) => modified(join(runsFolder, name)) ?? 0);
    for (const { name, parentPath } of temporary) {
      const path = join(parentPath, name);
      const isLeft =
        writerOf(name) === null
          ? (modified(path) ?? Infinity) < Math.min(...starts)
          : isAbandoned(name, activeRuns);
      if (isLeft) await rm(path, { force: true });
    }
  } catch (error) {
    // Another process may remove the folder while it is read: a test, for example.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      console.warn(`Cannot remove partial files in ${blobsFolder}: ${(error as Error).message}`);
    }
  }
}

/** When a file was last written; `undefined` when it does not exist any more. */
function modified(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

const namespaceKey = "ledge-store-bucket";

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
  try {
    return openForReading(path);
  } catch (error) {
    // The index of a log has to exist. A database in a backup has no log, and gets no index.
    if (existsSync(`${path}-shm`)) throw error;
    closeSync(openSync(`${path}-shm`, "a", 0o600));
    return openForReading(path);
  }
}

function openForReading(path: string): DatabaseSync {
  const { DatabaseSync: Database } = loadSqlite();
  const url = pathToFileURL(path);
  url.search = "?readonly_shm=1";
  let database: DatabaseSync;
  try {
    database = new Database(url, { readOnly: true });
  } catch (error) {
    // Node 22.13 and 22.14 take no address.
    if ((error as NodeJS.ErrnoException).code !== "ERR_INVALID_ARG_TYPE") throw error;
    database = new Database(path, { readOnly: true });
  }
  try {
    database.exec("SELECT 1 FROM sqlite_master");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What `PRAGMA integrity_check` finds; empty for an intact database. */
export function integrityProblems(database: DatabaseSync): string[] {
  const rows = database.prepare(`PRAGMA integrity_check(${problemsMax})`).all();
  const problems = rows.map((row) => String(Object.values(row)[0]));
  return problems.filter((problem) => problem !== "ok");
}

const problemsMax = 20;

/**
 * The marks in the folder of a bucket's files that are those of other databases, or of a newer state
 * of the bucket's database (`bucket/garbage-collector.ts`).
 */
export async function foreignMarks(storeFolder: string, bucketName: string): Promise<string[]> {
  const folder = join(storeFolder, "blobs", bucketFolder(bucketName));
  const names = (await readdir(folder).catch(() => [])).filter(isDatabaseMark);
  // The marks first: a mark is not ahead of its database.
  const marks = names.map((name) => ({
    name,
    path: join(folder, name),
    text: textOf(join(folder, name)),
  }));
  if (marks.length === 0) return [];
  const database = openDatabaseFile(databasePath(storeFolder, bucketName));
  try {
    const state = readDatabaseState(database);
    return marks.filter((mark) => isForeignMark(mark, state)).map(({ path }) => path);
  } finally {
    database.close();
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function readDatabaseState(database: DatabaseSync): DatabaseState {
  const hasGeneration = database
    .prepare("SELECT 1 FROM sqlite_master WHERE name = 'generation'")
    .get();
  const row = database
    .prepare(
      hasGeneration === undefined
        ? "SELECT database_id AS id, 0 AS number FROM format"
        : "SELECT database_id AS id, number FROM format, generation",
    )
    .get();
  return { databaseId: String(row?.["id"]), generation: Number(row?.["number"]) };
}
