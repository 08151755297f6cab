/** The databases and files of a store that no runtime uses: what is in them, and damage to them. */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databasePath } from "../../src/store/node/store-files.ts";

/** @param folder Miniflare's persistence folder */
export function bucketDatabase(folder: string, bucketName = "photos"): string {
  return databasePath(join(folder, "store"), bucketName);
}

/** Moves the log into the database, so that the database is one file. */
export function checkpoint(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Changes one bit of a file. */
export function flipBit(path: string, bit: number): void {
  const file = openSync(path, "r+");
  try {
    const byte = new Uint8Array(1);
    readSync(file, byte, 0, 1, bit >> 3);
    byte[0] = (byte[0] as number) ^ (1 << (bit & 7));
    writeSync(file, byte, 0, 1, bit >> 3);
  } finally {
    closeSync(file);
  }
}

/** Changes one bit of the first place in a file that holds `bytes`. */
export function flipIn(path: string, bytes: Uint8Array | string): void {
  const offset = readFileSync(path).indexOf(bytes);
  if (offset === -1) throw new Error(`${path} does not hold the bytes.`);
  flipBit(path, offset * 8);
}

/** Columns with times. workerd stores an alarm in two tables, in nanoseconds. */
const times: Record<string, (milliseconds: number) => string> = {
  uploads: (milliseconds) => `since = since - ${milliseconds}`,
  _cf_METADATA: (milliseconds) => `value = value - ${milliseconds}000000`,
  _cf_ALARM: (milliseconds) => `scheduled_time = scheduled_time - ${milliseconds}000000`,
};

/** Moves the stored times of a stopped store into the past. */
export function letTimePass(folder: string, milliseconds: number): void {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  for (const name of readdirSync(databases).filter((file) => file.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(databases, name));
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name: table } of tables as { name: string }[]) {
      if (table in times) database.exec(`UPDATE ${table} SET ${times[table]?.(milliseconds)}`);
    }
    database.close();
  }
}

/** The database of the bucket `photos`, opened beside or instead of its owner. */
export function openBucketDatabase(folder: string, readOnly = false): DatabaseSync {
  return new DatabaseSync(bucketDatabase(folder), { readOnly });
}
