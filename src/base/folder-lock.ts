/** A lock on a folder, between processes: a folder in it, which only one can make. */
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 20;
/** What is done under the lock takes a moment: one that is older was left by a crash. */
const staleMilliseconds = 10_000;

/** Runs `work` while nobody else does for the same folder. */
export async function alone<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const lock = join(folder, "claiming");
  mkdirSync(folder, { recursive: true });
  while (!tryMake(lock)) {
    if (age(lock) > staleMilliseconds) remove(lock);
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

function age(lock: string): number {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function remove(lock: string): void {
  try {
    rmdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
