/**
 * What a process leaves when it is killed, and how others know that they may remove it: by a lock that
 * the process holds until its end (`lock.ts`).
 *
 * **A run** of a runtime, or of a process that writes files of a store, has a record before it writes
 * anything else: a file named with the run's id, whose lock its process holds. What a run without a
 * record has left half-written is garbage.
 *
 * **A folder of a process** (`OwnFolder`) has a lock inside.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FileLock, isLocked, removeFreeLock } from "./lock.ts";

const runIdPattern = /^[0-9a-f]{16}$/;

export function newRunId(): string {
  return randomBytes(8).toString("hex");
}

/** The runs of this process, by the paths of their records. */
const ownRuns = new Map<string, FileLock>();

function recordPath(folder: string, runId: string): string {
  return join(folder, "runs", runId);
}

/** @param folder that the run uses. A second call does nothing. */
export function beginRun(folder: string, runId: string): void {
  const path = recordPath(folder, runId);
  if (!ownRuns.has(path)) ownRuns.set(path, FileLock.takeOwn(path));
}

export function endRun(folder: string, runId: string): void {
  const path = recordPath(folder, runId);
  rmSync(path, { force: true });
  ownRuns.get(path)?.release();
  ownRuns.delete(path);
}

export function isRunActive(folder: string, runId: string): boolean {
  const path = recordPath(folder, runId);
  return ownRuns.has(path) || isLocked(path);
}

export function activeRuns(folder: string): string[] {
  return recordedRuns(folder).filter((runId) => isRunActive(folder, runId));
}

/** Removes the records of runs whose process has ended. */
export function removeEndedRuns(folder: string): void {
  for (const runId of recordedRuns(folder)) {
    const path = recordPath(folder, runId);
    if (!ownRuns.has(path)) removeFreeLock(path);
  }
}

function recordedRuns(folder: string): string[] {
  return namesIn(join(folder, "runs")).filter((name) => runIdPattern.test(name));
}

const lockName = "lock";

/** A folder that belongs to this process, below a folder that several processes use. */
export class OwnFolder {
  readonly path: string;
  readonly #lock: FileLock;

  /**
   * Makes the folder, and removes the folders that ended processes have left.
   *
   * @param prefix of the names of such folders
   */
  constructor(parent: string, prefix: string) {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    removeLeftFolders(parent, prefix);
    // With mode 0700.
    this.path = mkdtempSync(join(parent, prefix));
    this.#lock = FileLock.takeOwn(join(this.path, lockName));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    this.#lock.release();
  }
}

/** Removes the folders that ended processes have left. */
export function removeLeftFolders(parent: string, prefix: string): void {
  for (const name of namesIn(parent)) {
    if (name.startsWith(prefix)) removeLeftFolder(join(parent, name));
  }
}

/** A folder without a lock was never used, or is almost removed. */
function removeLeftFolder(folder: string): void {
  try {
    const isFree = removeFreeLock(join(folder, lockName), () => {
      for (const name of namesIn(folder)) {
        if (name !== lockName) rmSync(join(folder, name), { recursive: true, force: true });
      }
    });
    if (isFree) rmdirSync(folder);
  } catch {
    // The folder is not empty, and so not ours, or it belongs to another user.
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
