/**
 * A lock tells whether a process is alive. The process holds the lock, and the operating system releases
 * the lock when the process ends, however it ends. A process id does not tell this: another container has
 * other ids, and the system gives an id to a later process again. A copied folder has no held lock.
 *
 * Node has no function for file locks, but SQLite locks its files: an exclusive transaction is a lock that
 * every platform supports. The file stays empty. Two locks of one process exclude each other too. POSIX
 * drops the lock of a process when the process closes any descriptor of the file, so no other code may
 * open the file.
 */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as Sqlite from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { loadSqlite } from "../base/loading.ts";
import { UserError } from "../base/user-error.ts";

const pollMilliseconds = 10;
const busyCode = 5;
/** How long a wait is not worth a message. */
const silentMilliseconds = 5_000;

export class FileLock {
  /** A database that no code can reach is closed, and its lock would be free. */
  static readonly #held = new Set<FileLock>();
  readonly #database: Sqlite.DatabaseSync;

  private constructor(database: Sqlite.DatabaseSync) {
    this.#database = database;
    FileLock.#held.add(this);
  }

  /**
   * Takes the lock, or returns `null` while another process or another part of this process has it.
   *
   * @throws UserError when the file cannot be a lock
   */
  static tryTake(path: string): FileLock | null {
    const { DatabaseSync } = loadSqlite();
    for (;;) {
      let database: Sqlite.DatabaseSync | undefined;
      try {
        if (!existsSync(path)) {
          mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
          // A file that does not exist has no lock that closing the descriptor could drop.
          writeFileSync(path, "", { mode: 0o600, flag: "a" });
        }
        const file = fileIdentity(path);
        database = new DatabaseSync(path, { timeout: 0 });
        // Without a second file, in which SQLite would keep its journal.
        database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
        // Another process may have removed the file since: then this is the lock of no name.
        if (file !== null && fileIdentity(path) === file) return new FileLock(database);
        database.close();
      } catch (error) {
        database?.close();
        if ((error as { errcode?: number }).errcode === busyCode) return null;
        throw new UserError(
          `Cannot lock ${path}: ${(error as Error).message}. Ledge must be able to write this file, ` +
            "and the file must be empty.",
        );
      }
    }
  }

  /** Waits while another process has the lock. A process that is stopped keeps the lock. */
  static async take(path: string): Promise<FileLock> {
    const told = setTimeout(() => {
      console.warn(`Waiting for another process, which has the lock ${path}.`);
    }, silentMilliseconds);
    try {
      for (;;) {
        const lock = FileLock.tryTake(path);
        if (lock !== null) return lock;
        await delay(pollMilliseconds);
      }
    } finally {
      clearTimeout(told);
    }
  }

  /** For a name that only this process uses, where others only look whether the lock is free. */
  static takeOwn(path: string): FileLock {
    for (;;) {
      const lock = FileLock.tryTake(path);
      if (lock !== null) return lock;
    }
  }

  /** A second call does nothing. */
  release(): void {
    // `isOpen` of the database is not in Node 22.13.
    if (FileLock.#held.delete(this)) this.#database.close();
  }
}

/** Whether a process holds the lock. */
export function isLocked(path: string): boolean {
  return existsSync(path) && !useFreeLock(path, () => {});
}

/**
 * Removes the file of a lock that no process holds, and first what the last holder has left.
 *
 * @returns whether no process holds the lock
 */
export function removeFreeLock(path: string, removeLeft: () => void = () => {}): boolean {
  if (!existsSync(path)) return true;
  return useFreeLock(path, () => {
    removeLeft();
    rmSync(path, { force: true });
  });
}

function useFreeLock(path: string, act: () => void): boolean {
  let lock: FileLock | null;
  try {
    lock = FileLock.tryTake(path);
  } catch {
    // The file belongs to another user, whose process may live.
    return false;
  }
  if (lock === null) return false;
  try {
    act();
  } finally {
    lock.release();
  }
  return true;
}

/** Identifies a file, however its path is written; `null` when the file does not exist. */
export function fileIdentity(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/**
 * Starts on one folder, one after the other.
 *
 * Miniflare keeps databases of its own below the folder in which it persists resources, and workerd
 * opens them at its start without waiting for SQLite's locks. Of several runtimes that start in the
 * same moment, some fail. So a runtime starts when no other runtime of ours is starting there.
 */

/** For a Miniflare that ends before it has started a runtime. */
const startMilliseconds = 60_000;

/** @returns a function that lets the next runtime start; a second call does nothing */
export async function takeStartTurn(persistPath: string): Promise<() => void> {
  const lock = await FileLock.take(join(persistPath, "ledge-start.lock"));
  const timer = setTimeout(() => lock.release(), startMilliseconds).unref();
  return () => {
    clearTimeout(timer);
    lock.release();
  };
}
