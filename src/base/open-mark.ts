/**
 * The mark of a runtime: a FIFO that the runtime has open from its first moment to its end. Runtimes take
 * no locks, but they inherit open files, and a FIFO that no process reads refuses a writer. So every
 * process that sees the FIFO knows whether a runtime lives, also in another container, and a copy of the
 * FIFO is held by no process.
 */
import { execFileSync } from "node:child_process";
import { closeSync, constants, lstatSync, openSync, rmSync } from "node:fs";

/** Makes the FIFO, if there is none. */
export function makeMark(path: string): void {
  if (process.platform === "win32" || isFifo(path)) return;
  rmSync(path, { force: true });
  try {
    execFileSync("mkfifo", ["-m", "600", path], { stdio: "ignore" });
  } catch {
    // The file system has no FIFOs. Then it has no Unix sockets either, and the start says so.
  }
}

/** Opens the mark, for a child process. @returns the descriptor; none where there is no mark */
export function openMark(path: string | undefined): number[] {
  if (path === undefined || !isFifo(path)) return [];
  return [openSync(path, constants.O_RDWR | constants.O_NONBLOCK)];
}

export function isMarkHeld(path: string): boolean {
  if (!isFifo(path)) return false;
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

function isFifo(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}
