/**
 * Locks between processes, which the operating system releases when the process that has a lock
 * dies, however it dies.
 *
 * Node has no function for file locks, but SQLite locks its files: an exclusive transaction is a
 * lock that every platform supports. The file stays empty. Two locks of one process exclude each
 * other too.
 *
 * POSIX drops the lock of a process when the process closes any descriptor of the file, so no other
 * code may open the file.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as Sqlite from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { loadSqlite } from "../base/runtime-patches.ts";
import { UserError } from "../base/user-error.ts";

const pollMilliseconds = 10;
const busyCode = 5;

export class FileLock {
  readonly #database: Sqlite.DatabaseSync;
  #isReleased = false;

  private constructor(database: Sqlite.DatabaseSync) {
    this.#database = database;
  }

  /**
   * Takes the lock, or returns `null` while another process or another part of this process has it.
   *
   * @throws UserError when the file cannot be a lock
   */
  static tryTake(path: string): FileLock | null {
    const { DatabaseSync } = loadSqlite();
    let database: Sqlite.DatabaseSync | undefined;
    try {
      if (!existsSync(path)) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        // A file that does not exist has no lock that closing the descriptor could drop.
        writeFileSync(path, "", { mode: 0o600, flag: "a" });
      }
      database = new DatabaseSync(path, { timeout: 0 });
      database.exec("BEGIN EXCLUSIVE");
      return new FileLock(database);
    } catch (error) {
      database?.close();
      if ((error as { errcode?: number }).errcode === busyCode) return null;
      throw new UserError(
        `Cannot lock ${path}: ${(error as Error).message}. Ledge must be able to write this file, ` +
          "and the file must be empty.",
      );
    }
  }

  static async take(path: string): Promise<FileLock> {
    for (;;) {
      const lock = FileLock.tryTake(path);
      if (lock !== null) return lock;
      await delay(pollMilliseconds);
    }
  }

  /** A second call does nothing. */
  release(): void {
    // `isOpen` of the database is not in Node 22.13.
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#database.close();
  }
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
