/** Other processes of this machine: whether they are there, and are still the same. */
import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync, type ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 10;
const endMilliseconds = 5_000;
/** In /proc/PID/stat, counted from the state, which comes after the name in parentheses. */
const startField = 19;

/** When a process started, in the system's ticks; `null` where Linux does not say. */
export function processStart(processId: number): string | null {
  return statusOf(processId)?.[startField] ?? null;
}

export function isSameProcess(processId: number, start: string | null): boolean {
  if (!isThere(processId)) return false;
  const now = processStart(processId);
  return start === null || now === null || now === start;
}

function isThere(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    // A process of somebody else's cannot be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // One that has ended stays until its parent asks how.
  return statusOf(processId)?.[0] !== "Z";
}

function statusOf(processId: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** Whom to tell of a runtime, carried along by whatever was begun in `start`. */
const starting = new AsyncLocalStorage<(processId: number) => void>();
let isWatching = false;

/**
 * Calls `found` with the number of the workerd that `start` starts, sooner or later, and of every
 * one that Miniflare starts in its place should it end. What others start meanwhile is not told.
 */
export function onWorkerdStart<Result>(
  found: (processId: number) => void,
  start: () => Result,
): Result {
  if (!isWatching) subscribe("child_process", lookAtChild);
  isWatching = true;
  return starting.run(found, start);
}

function lookAtChild(message: unknown): void {
  const found = starting.getStore();
  if (found === undefined) return;
  const { process: child } = message as { process: ChildProcess };
  // It is told of before it is started.
  setImmediate(() => {
    if (child.pid !== undefined && child.spawnfile?.includes("workerd")) found(child.pid);
  });
}

/**
 * workerd is a child of the process that started it, and does not notice when that is killed. The
 * number may be somebody else's by now, so only what is workerd is ended.
 */
export async function killWorkerd(processId: number): Promise<void> {
  if (!isThere(processId) || !isWorkerd(processId)) return;
  try {
    process.kill(processId, "SIGKILL");
  } catch {
    // Gone by itself.
  }
  const deadline = Date.now() + endMilliseconds;
  while (isThere(processId) && Date.now() < deadline) await delay(pollMilliseconds);
}

/** Where the system does not say what runs, nothing is ended. */
function isWorkerd(processId: number): boolean {
  try {
    return commandOf(processId).includes("workerd");
  } catch {
    return false;
  }
}

function commandOf(processId: number): string {
  if (process.platform === "linux") return readFileSync(`/proc/${processId}/cmdline`, "utf8");
  return execFileSync("ps", ["-p", String(processId), "-o", "command="], { encoding: "utf8" });
}
