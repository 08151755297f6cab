/**
 * The buckets of a store, by their folders in `blobs`: a bucket exists if its folder does. Every
 * runtime makes the folders of its configured buckets, and a request to create a bucket makes
 * another.
 *
 * A folder cannot be removed while a file is in it, and a process may be writing a file for a put
 * that the deleted bucket is going to refuse. So a deleted bucket whose folder is not empty gets a
 * mark, and counts as absent. The next owner removes what is left, with the database.
 */
import { readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { bucketFolder, bucketOfFolder } from "../core/content.ts";
import { databaseFolder, databasePath, openDatabaseFile } from "./check/database-file.ts";

/** The empty file in the folder of a deleted bucket. */
const deletedMark = "bucket.deleted";

/** Names of configured buckets, and of others. No other name is the name of a folder. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export interface BucketRecord {
  readonly name: string;
  /** Milliseconds since the epoch */
  readonly created: number;
}

export class BucketFolders {
  readonly #blobs: string;

  constructor(storeFolder: string) {
    this.#blobs = join(storeFolder, "blobs");
  }

  /** In the order of the names. */
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
