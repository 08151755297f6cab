/**
 * Starts on one folder, one after the other.
 *
 * Miniflare keeps databases of its own below the folder in which it persists resources, and workerd
 * opens them at its start without waiting for SQLite's locks. Of several runtimes that start in the
 * same moment, some fail. So a runtime starts when no other runtime of ours is starting there.
 */
import { join } from "node:path";
import { FileLock } from "./file-lock.ts";

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
