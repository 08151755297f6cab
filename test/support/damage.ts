/** Damages the files of a store that no runtime uses. */
import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
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
  const file = openSync(path, "r");
  const content = Buffer.alloc(fstatSync(file).size);
  readSync(file, content);
  closeSync(file);
  const offset = content.indexOf(bytes);
  if (offset === -1) throw new Error(`${path} does not hold the bytes.`);
  flipBit(path, offset * 8);
}
