/**
 * Ownership of a folder with databases.
 *
 * A Durable Object holds state in memory, and workerd does not wait for SQLite's locks: two
 * runtimes on one database overwrite each other's writes or fail at random
 * (`docs/decisions/0009-one-host.md`). So one process owns the folder, and other processes are its
 * clients. The owner writes a record, a file with its process id and with what clients need to
 * reach it. The record counts while its process is alive.
 *
 * A process that is killed leaves its record, and its workerd, which does not notice the death of
 * its parent and keeps the databases open. The next owner ends that workerd.
 *
 * The store and DNS have different rules for who becomes the owner (`store/node/store-owner.ts`,
 * `dns/server/zones-owner.ts`). Both decide under the lock of the folder.
 */
import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, killWorkerd, type ProcessIdentity } from "./processes.ts";

export interface OwnerRecord extends ProcessIdentity {
  /** Of workerd, once it has started. */
  readonly runtimeProcessId?: number;
}

const pollMilliseconds = 20;
/** Work under the lock takes a moment. An older lock is the lock of a process that was killed. */
const staleMilliseconds = 10_000;

/** Runs `work` while no other process runs work under the lock of the same folder. */
export async function withFolderLock<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  // Only one process can make a folder.
  const lock = join(folder, "claiming");
  mkdirSync(folder, { recursive: true });
  while (!tryMake(lock)) {
    if (ageMilliseconds(lock) > staleMilliseconds) remove(lock);
    else await delay(pollMilliseconds);
  }
  try {
    return await work();
  } finally {
    remove(lock);
  }
}

function tryMake(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function ageMilliseconds(lock: string): number {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function remove(lock: string): void {
  try {
    rmdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/**
 * Writes the record whole or not at all: another process would take half a record for none. The
 * record holds secrets, so only its user can read it.
 */
export function writeOwnerRecord(path: string, record: OwnerRecord): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `${temporaryPrefix}${process.pid}.${basename(path)}`);
  writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
  renameSync(temporary, path);
}

/** Files in a folder of records whose names start so are not yet records. */
export const temporaryPrefix = ".";

/** `null` when the file does not exist, or is not a record. */
export function readOwnerRecord<Owner extends OwnerRecord>(path: string): Owner | null {
  try {
    const record = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    return Number.isInteger(record?.processId) ? (record as Owner) : null;
  } catch {
    return null;
  }
}

/** Ends the workerd of an owner that is dead. */
export async function endOrphanedRuntime(record: OwnerRecord): Promise<void> {
  if (record.runtimeProcessId === undefined || isAlive(record)) return;
  await killWorkerd(record.runtimeProcessId);
}
