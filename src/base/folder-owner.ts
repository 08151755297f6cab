/**
 * Ownership of a folder with databases.
 *
 * A Durable Object holds state in memory, and workerd does not wait for SQLite's locks: two
 * runtimes on one database overwrite each other's writes or fail at random
 * (`docs/decisions/0009-one-owner.md`). So one process owns the folder, and other processes are its
 * clients. The owner writes a record, a file with its process id and with what clients need to
 * reach it. The record counts while its process is alive.
 *
 * A process that is killed leaves its record, and its workerd, which does not notice the death of
 * its parent and keeps the databases open. The next owner ends that workerd.
 *
 * The store and DNS have different rules for which process becomes the owner
 * (`store/node/store-owner.ts`, `dns/server/zones-owner.ts`). Both decide under the folder's lock.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, killWorkerd, type ProcessIdentity } from "./processes.ts";

export interface OwnerRecord extends ProcessIdentity {
  /** Of workerd, once it has started. */
  readonly runtimeProcessId?: number;
}

/** Files in a folder of records whose names start so are not yet records. */
export const temporaryPrefix = ".";
const pollMilliseconds = 20;
/** Work under the lock takes a moment. An older lock is the lock of a process that was killed. */
const staleMilliseconds = 10_000;

/** Runs `work` while no other process runs work under the lock of the same folder. */
export async function withFolderLock<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = join(folder, "claiming");
  const unlock = (): void => rmSync(lock, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  while (!tryMakeFolder(lock)) {
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > staleMilliseconds) unlock();
    else await delay(pollMilliseconds);
  }
  try {
    return await work();
  } finally {
    unlock();
  }
}

function tryMakeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Writes the record whole or not at all: another process would ignore half a record. The record
 * holds secrets, so only the user that runs the process can read it.
 */
export function writeOwnerRecord(path: string, record: OwnerRecord): void {
  const folder = dirname(path);
  const temporary = join(folder, `${temporaryPrefix}${process.pid}.${basename(path)}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(temporary, JSON.stringify(record), { mode: 0o600 });
  renameSync(temporary, path);
}

/** `null` when the file does not exist, or is not a record. */
export function readOwnerRecord<Owner extends OwnerRecord>(path: string): Owner | null {
  try {
    const record = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    return Number.isInteger(record?.processId) ? (record as Owner) : null;
  } catch {
    return null;
  }
}

/** Ends the workerd that a dead owner has left. */
export async function endOrphanedRuntime(record: OwnerRecord): Promise<void> {
  if (record.runtimeProcessId === undefined || isAlive(record)) return;
  await killWorkerd(record.runtimeProcessId);
}
