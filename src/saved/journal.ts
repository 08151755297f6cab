/**
 * Who saves or restores, and the end of a restoration that was interrupted.
 *
 * One process at a time changes the saved states of a folder, and the state by them: the process that has the lock.
 *
 * A restoration writes its journal before it replaces the first file, and removes the journal after the last. If the
 * process is killed in between, the files are a mixture, and the next process that starts a runtime there, saves
 * or restores goes on with the restoration: from any point on, the same steps lead to the same files. No runtime
 * has the databases open then: it was frozen and is killed, or does not start before the journal has gone.
 *
 * Databases that are set aside are in a journal, too. Nothing was replaced and what is there is not saved yet, so the
 * next process brings them back, and does not restore.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makePrivateFolder, writeWhole } from "../base/private-files.ts";
import { UserError } from "../base/user-error.ts";
import { DatabaseFiles, fileState, linkFile, restoreDatabase } from "../state/database-files.ts";
import { persistPath, pluginFolder, savedFolder, savedLockPath } from "../state/folder.ts";
import { FileLock, takeStartTurn } from "../state/lock.ts";
import {
  isAlarms,
  isBucketDatabase,
  isBucketValue,
  readStateFiles,
  type StateFiles,
} from "./layout.ts";
import { findRuntimes, freeze, InUseError, type Frozen, type Runtime } from "./runtimes.ts";
import { journalPath, removeLeft, SavedRecord, type RecordedDatabase } from "./saved-record.ts";
import { hasSameContent, isPathEnough } from "./value-content.ts";

export interface Journal {
  /** `null` for the empty state. */
  readonly name: string | null;
  /** The values of buckets that rows named before. Others may be on their way from a client. */
  readonly removedValues: readonly string[];
}

/** Nothing was replaced yet. */
export interface AsideJournal {
  /** The databases that were set aside, below the folder of Miniflare. */
  readonly aside: readonly string[];
}

/** For another process that only looks, or deletes. */
const lockMilliseconds = 1_000;
/** For a process of Ledge that moves the logs into the databases at its end (`state/checkpoint.ts`). */
const settleMilliseconds = 3_000;
const pollMilliseconds = 10;

/**
 * Takes the lock, finishes what a killed process has begun, and removes what it has left.
 *
 * @param what this process does, for another process that is refused: 'saves the state "a"'
 * @throws UserError when another process has the lock
 * @returns a function that releases the lock; a second call does nothing
 */
export async function lockSaved(stateFolder: string, what: string): Promise<() => void> {
  const folder = savedFolder(stateFolder);
  const holderPath = join(folder, ".lock.json");
  makePrivateFolder(folder);
  const deadline = Date.now() + lockMilliseconds;
  for (;;) {
    await finishRestoration(stateFolder);
    const lock = FileLock.tryTake(savedLockPath(stateFolder));
    if (lock !== null && !existsSync(journalPath(stateFolder))) {
      try {
        removeLeft(stateFolder, false);
        tellHolder(holderPath, what);
      } catch (error) {
        lock.release();
        throw error;
      }
      return () => lock.release();
    }
    lock?.release();
    if (Date.now() > deadline) throw new UserError(`${holderOf(holderPath)}. ${tryAgain}`);
    await delay(pollMilliseconds);
  }
}

const tryAgain = "One process at a time saves or restores: try again when that has ended.";

function tellHolder(path: string, what: string): void {
  try {
    writeWhole(path, JSON.stringify({ processId: process.pid, what }));
  } catch {
    // The device is full: the lock counts, and a state can be deleted.
  }
}

function holderOf(path: string): string {
  try {
    const { processId, what } = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    const name = processId === process.pid ? "This process" : `Process ${String(processId)}`;
    return `${name} ${String(what)} at this moment`;
  } catch {
    return "Another process saves or restores a state at this moment";
  }
}

/** @returns a function that lets runtimes start again: until then, none of ours does */
export async function holdStarts(stateFolder: string): Promise<() => void> {
  const ends: (() => void)[] = [];
  const endAll = (): void => ends.forEach((end) => end());
  try {
    ends.push(await takeStartTurn(persistPath(stateFolder)));
    for (const plugin of ["store", "dns"]) {
      const folder = pluginFolder(stateFolder, plugin);
      if (existsSync(folder)) ends.push(await takeStartTurn(folder));
    }
    return endAll;
  } catch (error) {
    endAll();
    throw error;
  }
}

/**
 * Freezes the runtimes of the folder while `act` takes or replaces files. None starts meanwhile.
 *
 * @returns the runtimes
 */
export async function whileFrozen(
  stateFolder: string,
  act: (frozen: Frozen) => void,
): Promise<readonly Runtime[]> {
  const endHold = await holdStarts(stateFolder);
  try {
    const runtimes = await settledRuntimes(stateFolder);
    const frozen = freeze(runtimes, journalPath(stateFolder));
    try {
      act(frozen);
    } finally {
      frozen.end();
    }
    return runtimes;
  } finally {
    endHold();
  }
}

/** The runtimes of the folder, when commands that are ending have ended. */
export async function settledRuntimes(stateFolder: string): Promise<Runtime[]> {
  const deadline = Date.now() + settleMilliseconds;
  for (;;) {
    try {
      return findRuntimes(stateFolder);
    } catch (error) {
      if (!(error instanceof InUseError) || Date.now() > deadline) throw error;
    }
    await delay(pollMilliseconds);
  }
}

/**
 * Goes on with a restoration that was interrupted; waits while the process that restores is alive. Is called before
 * a runtime starts, in its turn to start.
 */
export async function finishRestoration(stateFolder: string): Promise<void> {
  const path = journalPath(stateFolder);
  while (existsSync(path)) {
    const lock = FileLock.tryTake(savedLockPath(stateFolder));
    try {
      if (lock !== null && existsSync(path)) {
        const journal = readJournal(path);
        const name = "aside" in journal ? null : journal.name;
        const record = name === null ? null : findRecord(stateFolder, name);
        const frozen = freeze(await settledRuntimes(stateFolder), path);
        if ("aside" in journal) bringBack(stateFolder, journal);
        else replaceFiles(stateFolder, record, journal);
        frozen.kill();
        return;
      }
    } finally {
      lock?.release();
    }
    await delay(pollMilliseconds);
  }
}

/** When no process has the databases open. What an object that has begun anew meanwhile has made is removed. */
export function bringBack(stateFolder: string, { aside }: AsideJournal): void {
  for (const path of aside) new DatabaseFiles(join(persistPath(stateFolder), path)).bringBack();
  rmSync(journalPath(stateFolder), { force: true });
}

function readJournal(path: string): Journal | AsideJournal {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Journal | AsideJournal;
  } catch (error) {
    throw new UserError(
      `The journal ${path} of a restoration cannot be read: ${(error as Error).message}. The state is ` +
        "incomplete: remove the journal, then restore a saved state.",
    );
  }
}

function findRecord(stateFolder: string, name: string): SavedRecord {
  try {
    const record = SavedRecord.read(stateFolder, name);
    record.requireWhole([]);
    return record;
  } catch (error) {
    throw new UserError(
      `The restoration of "${name}" was interrupted and cannot go on. ${(error as Error).message} The ` +
        `state is incomplete: remove ${journalPath(stateFolder)}, then restore another saved state.`,
    );
  }
}

/** Whether the files in use do not have the content of the copy, or may not have it. */
export function hasChanged({ logBytes, logMark, live }: RecordedDatabase, files: DatabaseFiles) {
  if (live === null || fileState(files.path) !== live) return true;
  return files.logBytes !== logBytes || files.logMark(logBytes) !== logMark;
}

/**
 * The same steps after each interruption. No process has the databases open.
 *
 * @param options keepsAlarms: whether a runtime has the databases of alarms open, which stay as they are; found: what is
 *   there
 */
export function replaceFiles(
  stateFolder: string,
  record: SavedRecord | null,
  { removedValues }: Journal,
  options: { readonly keepsAlarms?: boolean; readonly found?: StateFiles } = {},
): void {
  const isKept = (path: string): boolean => options.keepsAlarms === true && isAlarms(path);
  const persist = persistPath(stateFolder);
  const filesOf = (path: string): DatabaseFiles => new DatabaseFiles(join(persist, path));
  const found = options.found ?? readStateFiles(persist);
  const values = record?.values ?? new Map<string, number>();
  const databases = record?.databases ?? [];
  if (record !== null) addValues(stateFolder, record, found.values);
  const wanted = new Set(databases.map(({ path }) => path));
  const changed = databases.filter(
    (database) => !isKept(database.path) && hasChanged(database, filesOf(database.path)),
  );
  const removed = found.databases.filter((path) => !wanted.has(path) && !isKept(path));
  for (const path of removed) filesOf(path).remove();
  for (const database of changed) {
    const { path, live, logBytes, logMark } = database;
    const files = filesOf(path);
    mkdirSync(dirname(files.path), { recursive: true, mode: 0o700 });
    const copy = record?.copyPath(path) ?? "";
    const logCopy = record?.logPath(path) ?? null;
    restoreDatabase(files, { copy, logCopy, logBytes, logMark, main: live });
  }
  if ([...removed, ...changed.map(({ path }) => path)].some(isBucketDatabase)) {
    for (const path of found.marks) rmSync(join(persist, path), { force: true });
  }
  const removable = new Set(removedValues);
  for (const path of found.values) {
    if (values.has(path) || (isBucketValue(path) && !removable.has(path))) continue;
    rmSync(join(persist, path), { force: true });
  }
  record?.recordLive(persist, isKept);
  rmSync(journalPath(stateFolder), { force: true });
}

/** The values of the state that are not there, or are there with other bytes. */
export function missingValues(
  stateFolder: string,
  record: SavedRecord,
  present: ReadonlySet<string>,
): string[] {
  const persist = persistPath(stateFolder);
  const isEnough = isPathEnough(stateFolder);
  const isThere = (path: string): boolean =>
    present.has(path) && (isEnough || hasSameContent(join(persist, path), record.valuePath(path)));
  return [...record.values.keys()].filter((path) => !isThere(path));
}

function addValues(stateFolder: string, record: SavedRecord, present: ReadonlySet<string>): void {
  const folders = new Set<string>();
  for (const path of missingValues(stateFolder, record, present)) {
    const value = join(persistPath(stateFolder), path);
    if (!folders.has(dirname(value))) {
      folders.add(dirname(value));
      mkdirSync(dirname(value), { recursive: true, mode: 0o700 });
    }
    // Another name of a value of the pool, whose bytes must stay.
    if (present.has(path)) rmSync(value, { force: true });
    linkFile(record.valuePath(path), value);
  }
}
