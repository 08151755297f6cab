/**
 * Backups of buckets, made while processes use the store or while none does. `restore.ts` restores them.
 *
 * A backup is a folder with a store in it, as `check-bucket.ts` and a runtime understand it:
 *
 *     ledge-backup.json             what the backup has; written last, so that a backup is whole or none
 *     store/databases/…/ID.sqlite   the rows of each bucket
 *     store/blobs/BUCKET/…          the files that the rows name
 *
 * **Backup.** The rows are read beside the owner, in one transaction, so they are those of one moment. The
 * files change on: a replaced file is removed. So each file that the rows name gets a second name (a hard
 * link) while the transaction is open; if a file is gone already, the rows are read again. The second names
 * are those of files of this run: if this process is killed, the owner removes them like each file that
 * no row names (`core/content.ts`). Then the files are copied, and the copy is verified.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { mapConcurrent } from "../../base/concurrency.ts";
import { counted } from "../../base/format.ts";
import { makePrivateFolder, writeWhole } from "../../base/private-files.ts";
import { loadSqlite } from "../../base/loading.ts";
import { UserError } from "../../base/user-error.ts";
import { explain } from "../../state/folder.ts";
import { FileLock } from "../../state/lock.ts";
import { bucketFolder } from "../core/content.ts";
import { copyWholeFile } from "./blob-files.ts";
import { checkBucket } from "./check-bucket.ts";
import type { LocalBuckets } from "./local-bucket.ts";
import { databaseFolder, databasePath, openDatabaseFile } from "./store-files.ts";

const manifestName = "ledge-backup.json";
/** The lock of the process that writes a backup. A backup that was interrupted has the file. */
const lockName = "incomplete.lock";
/** The store in the folder of a backup. */
export const storeName = "store";
const backupFormat = 1;

export interface BackedUpBucket {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
  readonly uploads: number;
}

interface Manifest {
  readonly format: number;
  readonly created: string;
  readonly buckets: readonly BackedUpBucket[];
}

export interface BackupOptions {
  /** The buckets of the store's folder. */
  readonly local: LocalBuckets;
  readonly storeFolder: string;
  readonly bucketNames: readonly string[];
  /** The folder of the backup. */
  readonly folder: string;
  /** Called for each file that was copied, and for each object that was verified. */
  readonly onFile: (bytes: number) => void;
}

/**
 * Writes a backup into a folder that is empty or does not exist. If this fails, the folder is as before.
 *
 * @throws UserError
 */
export async function backupBuckets(options: BackupOptions): Promise<BackedUpBucket[]> {
  const { folder, bucketNames } = options;
  const destination = takeDestination(folder);
  try {
    const target = join(folder, storeName);
    const buckets: BackedUpBucket[] = [];
    for (const name of bucketNames) {
      const uploads = await backupBucket(options, name, target);
      const { objects, bytes } = await verifyBucket(target, name, options.onFile, (problems) => [
        `Cannot back up bucket "${name}": ${problems}`,
        `Run "ledge store check ${name}", and put or delete the objects that it names.`,
      ]);
      buckets.push({ name, objects, bytes, uploads });
    }
    const manifest: Manifest = { format: backupFormat, created: new Date().toISOString(), buckets };
    writeWhole(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
    destination.keep();
    return buckets;
  } catch (error) {
    destination.discard();
    throw explained(error, folder);
  }
}

/** @throws UserError when the folder is not empty, or when another process writes there */
function takeDestination(folder: string): { keep(): void; discard(): void } {
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw explained(error, folder);
  }
  if (names.includes(manifestName)) {
    throw new UserError(`${folder} has a backup already: give another folder, or remove it first.`);
  }
  const isLeft = names.includes(lockName);
  const others = names.filter((name) => !isLeft || ![lockName, storeName].includes(name));
  if (others.length > 0) {
    throw new UserError(`${folder} is not empty: give the name of an empty or a new folder.`);
  }
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw explained(error, folder);
  }
  const lock = FileLock.tryTake(join(folder, lockName));
  if (lock === null) throw new UserError(`Another process writes a backup to ${folder}.`);
  const store = join(folder, storeName);
  // What a backup that was killed has left.
  rmSync(store, { recursive: true, force: true });
  const release = (): void => {
    lock.release();
    rmSync(join(folder, lockName), { force: true });
  };
  return {
    keep: release,
    discard() {
      rmSync(store, { recursive: true, force: true });
      release();
    },
  };
}

/** How often the rows are read while files are replaced all the time. */
const attemptsMax = 100;
const attemptMilliseconds = 10;
export const copiesAtOnce = 8;

/** @returns the number of uploads in progress */
async function backupBucket(
  { local, storeFolder, onFile }: BackupOptions,
  name: string,
  target: string,
): Promise<number> {
  const blobs = join(storeFolder, "blobs", bucketFolder(name));
  const copies = join(target, "blobs", bucketFolder(name));
  for (const path of [copies, databaseFolder(target)])
    await mkdir(path, { recursive: true, mode: 0o700 });
  /** The second names of files, by their names. */
  const links = new Map<string, string>();
  try {
    for (let attempt = 1; ; attempt++) {
      // The owner opens its database, and the reader sees everything that was acknowledged before.
      await local.bucket(name).call({ method: "head", key: "-" });
      const keep = (blob: string): boolean => {
        const link = links.get(blob) ?? local.newFileName();
        if (!links.has(blob) && !keepFile(join(blobs, blob), join(blobs, link))) return false;
        links.set(blob, link);
        return true;
      };
      const copied = copyRows(databasePath(storeFolder, name), databasePath(target, name), keep);
      if (!("missing" in copied)) {
        await mapConcurrent(copied.files, copiesAtOnce, async (blob) => {
          onFile(await copyDurably(join(blobs, links.get(blob) as string), join(copies, blob)));
        });
        await syncFolder(copies);
        return copied.uploads;
      }
      if (attempt === attemptsMax) {
        throw new UserError(
          `Cannot back up bucket "${name}": file "${copied.missing}" of an object is missing. Run ` +
            `"ledge store check ${name}", and put or delete the objects that it names.`,
        );
      }
      await delay(attemptMilliseconds);
    }
  } finally {
    for (const link of links.values()) rmSync(join(blobs, link), { force: true });
  }
}

/** Gives a file a second name. Returns `false` if the file does not exist any more. */
function keepFile(path: string, secondPath: string): boolean {
  try {
    linkSync(path, secondPath);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
  }
  // Some file systems have no hard links.
  try {
    copyFileSync(path, secondPath, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Copies the rows of one moment into a new database.
 *
 * @param keep keeps a file that a row names; returns `false` if the file does not exist any more
 */
function copyRows(
  sourcePath: string,
  targetPath: string,
  keep: (blob: string) => boolean,
):
  | { readonly files: ReadonlySet<string>; readonly uploads: number }
  | { readonly missing: string } {
  const source = openDatabaseFile(sourcePath);
  try {
    source.exec("BEGIN");
    const files = new Set<string>();
    for (const { name } of source.prepare("SELECT name FROM blobs").iterate()) {
      if (!keep(name as string)) return { missing: name as string };
      files.add(name as string);
    }
    const query = "SELECT count(*) AS count FROM uploads WHERE state = 'in progress'";
    const uploads = Number(source.prepare(query).get()?.["count"]);
    rmSync(targetPath, { force: true });
    const { DatabaseSync: Database } = loadSqlite();
    const target = new Database(targetPath);
    try {
      target.exec("PRAGMA journal_mode = DELETE; BEGIN");
      copyTables(source, target);
      target.exec("COMMIT");
    } finally {
      target.close();
    }
    return { files, uploads };
  } finally {
    source.close();
  }
}

/** The tables of workerd, of the undo journal and of a restoration in progress are not the bucket's. */
const ownTables =
  "name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'undo_*' AND name NOT GLOB 'staged_*'";
/** Tables whose rows concern the processes of the store, not its objects. */
const passingTables = new Set(["requests", "released"]);

function copyTables(source: DatabaseSync, target: DatabaseSync): void {
  const schema = `SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL AND ${ownTables}`;
  const tables = source.prepare(schema).all("table") as { name: string; sql: string }[];
  for (const { name, sql } of tables) {
    target.exec(sql);
    if (passingTables.has(name)) continue;
    const condition = name === "settings" ? "WHERE name <> 'deleted'" : "";
    let insert: ((values: SQLInputValue[]) => unknown) | undefined;
    for (const row of source.prepare(`SELECT * FROM "${name}" ${condition}`).iterate()) {
      const values = Object.values(row) as SQLInputValue[];
      if (insert === undefined) {
        const places = values.map(() => "?").join(", ");
        const statement = target.prepare(`INSERT INTO "${name}" VALUES (${places})`);
        insert = (given) => statement.run(...given);
      }
      insert(values);
    }
  }
  for (const { sql } of source.prepare(schema).all("index")) target.exec(String(sql));
}

/** What the backup in a folder has. */
export function readBackup(folder: string): readonly BackedUpBucket[] {
  let text: string;
  try {
    text = readFileSync(join(folder, manifestName), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw explained(error, folder);
    throw new UserError(
      isInterrupted(folder)
        ? `The backup in ${folder} is not complete: the command that made it was interrupted. Restore another backup.`
        : `${folder} is not a backup: it has no ${manifestName}. Give the folder of "ledge store backup".`,
    );
  }
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text) as Manifest;
    if (typeof manifest.format !== "number" || !Array.isArray(manifest.buckets)) throw new Error();
  } catch {
    throw new UserError(`The backup in ${folder} is damaged: ${manifestName} cannot be read.`);
  }
  if (manifest.format !== backupFormat) {
    throw new UserError(
      `The backup in ${folder} has format ${manifest.format}, and this version of Ledge reads format ` +
        `${backupFormat}. Restore it with the version that made it.`,
    );
  }
  return manifest.buckets;
}

function isInterrupted(folder: string): boolean {
  try {
    return readdirSync(folder).includes(lockName);
  } catch {
    return false;
  }
}

/** @throws UserError with the sentences of `damaged`, when the bucket in a backup is damaged */
export async function verifyBucket(
  storeFolder: string,
  bucketName: string,
  onObject: (bytes: number) => void,
  damaged: (problems: string) => string[],
): Promise<{ readonly objects: number; readonly bytes: number }> {
  const path = databasePath(storeFolder, bucketName);
  if (!existsSync(path)) throw new UserError(damaged(`${path} is missing.`).join(" "));
  const report = await checkBucket({ storeFolder, bucketName, activeRuns: () => [], onObject });
  const [first, ...more] = report.damages;
  if (first === undefined) return report;
  const { key, problem } = first;
  const text = key === undefined ? problem : `"${key}": ${problem}.`;
  const others = more.length === 0 ? "" : ` There are ${counted(more.length, "more problem")}.`;
  throw new UserError(damaged(`${text}${others}`).join(" "));
}

/** @returns the size */
export async function copyDurably(from: string, to: string): Promise<number> {
  await copyWholeFile(from, to);
  const file = await open(to, "r+");
  try {
    await file.datasync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path);
  await folder.sync().finally(() => folder.close());
}

/** SQLITE_FULL. */
const fullCode = 13;

export function explained(error: unknown, folder: string): unknown {
  const { errcode } = error as { errcode?: number };
  return explain(errcode === fullCode ? { code: "ENOSPC" } : error, folder);
}
