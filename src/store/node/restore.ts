/**
 * Restores buckets of a backup (`backup.ts`), while processes use the store or while none does.
 *
 * The backup is verified before anything changes. The files are copied under names of this run. Then the rows
 * go to the owner's bucket, which replaces all its tables in one transaction (`bucket/restoration.ts`). A kill
 * before that leaves the bucket as it was, and files that the owner removes like each file that no row
 * names (`core/content.ts`).
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { mapConcurrent } from "../../base/concurrency.ts";
import { counted } from "../../base/format.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import { encodeFrame } from "../client/message.ts";
import { bucketFolder, decodeSegments, encodeSegments } from "../core/content.ts";
import { restoredTables, type RestorationStep, type RestoredValue } from "../core/operations.ts";
import {
  copiesAtOnce,
  copyDurably,
  explained,
  readBackup,
  storeName,
  syncFolder,
  verifyBucket,
  type BackedUpBucket,
  type BackupOptions,
} from "./backup.ts";
import type { LocalBuckets } from "./local-bucket.ts";
import { BucketFolders, databasePath, openDatabaseFile } from "./store-files.ts";

/**
 * Replaces buckets by those of a backup, with versions, times, metadata and uploads in progress. Each bucket
 * is replaced at once; if the backup is damaged, none is.
 *
 * @throws UserError
 */
export async function restoreBuckets(options: BackupOptions): Promise<BackedUpBucket[]> {
  const { folder, bucketNames } = options;
  const known = readBackup(folder);
  const asked = bucketNames.map((name) => {
    const found = known.find((bucket) => bucket.name === name);
    if (found !== undefined) return found;
    const names = known.map((bucket) => `"${bucket.name}"`).join(", ") || "none";
    throw new NotFoundError(
      `The backup in ${folder} has no bucket "${name}". Its buckets: ${names}.`,
    );
  });
  const source = join(folder, storeName);
  for (const { name, objects } of asked) {
    const damaged = (problems: string): string[] => [
      `Cannot restore bucket "${name}": the backup in ${folder} is damaged: ${problems}`,
      "Nothing was changed. Restore another backup.",
    ];
    const found = await verifyBucket(source, name, options.onFile, damaged);
    if (found.objects !== objects) {
      const counts = `it has ${counted(found.objects, "object")} instead of ${objects}.`;
      throw new UserError(damaged(counts).join(" "));
    }
  }
  for (const { name } of asked) await restoreBucket(options, name, source);
  return asked;
}

async function restoreBucket(
  { local, storeFolder, onFile }: BackupOptions,
  name: string,
  source: string,
): Promise<void> {
  const blobs = join(storeFolder, "blobs", bucketFolder(name));
  const backedUp = join(source, "blobs", bucketFolder(name));
  const database = openDatabaseFile(databasePath(source, name));
  /** The names of files in the store, by their names in the backup. */
  const names = new Map<string, string>();
  const bucket = local.bucket(name);
  let isDone = false;
  try {
    await new BucketFolders(storeFolder).create(name);
    const rows = database.prepare("SELECT name FROM blobs").all() as { name: string }[];
    for (const { name: blob } of rows) names.set(blob, local.newFileName());
    await mapConcurrent(names, copiesAtOnce, async ([blob, copy]) => {
      onFile(await copyDurably(join(backedUp, blob), join(blobs, copy)));
    });
    await syncFolder(blobs);
    await sendRows(local, name, database, names);
    isDone = true;
  } catch (error) {
    const { problem } = await bucket.call({ method: "checkDisk", bytes: 0, blobs: [] });
    throw problem === null ? explained(error, storeFolder) : new UserError(problem.text);
  } finally {
    database.close();
    if (!isDone) for (const copy of names.values()) await rm(join(blobs, copy), { force: true });
  }
}

/** How often a restoration begins again because the owner has changed. */
const restorationsMax = 5;
const chunkBytes = 4 * 1024 * 1024;
const chunkRows = 2000;

async function sendRows(
  local: LocalBuckets,
  bucketName: string,
  database: DatabaseSync,
  names: ReadonlyMap<string, string>,
): Promise<void> {
  const send = async (step: RestorationStep): Promise<boolean> => {
    const body = encodeFrame(step);
    const answer = await local.owner.run((endpoint) =>
      endpoint.request(`/restore/${bucketName}`, { body }),
    );
    return JSON.parse(answer.toString()) as boolean;
  };
  for (let attempt = 1; attempt <= restorationsMax; attempt++) {
    const id = randomUUID();
    if (await sendSteps(stepsOf(id, database, names), send)) return;
  }
  throw new UserError(
    `Cannot restore bucket "${bucketName}": another command restores it, or its owner does not stay. Try again.`,
  );
}

/** @returns whether the bucket has executed all steps */
async function sendSteps(
  steps: Iterable<RestorationStep>,
  send: (step: RestorationStep) => Promise<boolean>,
): Promise<boolean> {
  for (const step of steps) if (!(await send(step))) return false;
  return true;
}

function* stepsOf(
  id: string,
  database: DatabaseSync,
  names: ReadonlyMap<string, string>,
): Generator<RestorationStep> {
  yield { id, step: "begin" };
  for (const table of restoredTables) {
    let rows: RestoredValue[][] = [];
    let bytes = 0;
    for (const row of database.prepare(`SELECT * FROM ${table}`).iterate()) {
      const values = Object.values(renamed(row as RestoredRow, names));
      bytes += values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
      rows.push(values);
      if (bytes < chunkBytes && rows.length < chunkRows) continue;
      yield { id, step: "rows", table, rows };
      [rows, bytes] = [[], 0];
    }
    if (rows.length > 0) yield { id, step: "rows", table, rows };
  }
  yield { id, step: "commit" };
}

type RestoredRow = Record<string, RestoredValue>;

/** The row with the names that its files have in the store. */
function renamed(row: RestoredRow, names: ReadonlyMap<string, string>): RestoredRow {
  const nameOf = <Place extends RestoredValue | undefined>(place: Place): Place | string =>
    typeof place === "string" ? (names.get(place) ?? place) : place;
  const { segments, place, name } = row;
  if (typeof segments === "string") {
    const placed = decodeSegments(segments).map((each) => ({ ...each, place: nameOf(each.place) }));
    return { ...row, segments: encodeSegments(placed) };
  }
  if (place !== undefined) return { ...row, place: nameOf(place) };
  return name !== undefined && names.has(String(name)) ? { ...row, name: nameOf(name) } : row;
}

function sizeOf(value: RestoredValue): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
}
