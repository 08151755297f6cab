/** Other processes of this machine: whether they are there, and are still the same. */
import { execFileSync, type ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MILLISECONDS = 10;
const END_MILLISECONDS = 5_000;
/** In /proc/PID/stat, counted from the state, which comes after the name in parentheses. */
const START_FIELD = 19;

/** When a process started, in the system's ticks; `null` where Linux does not say. */
export function processStart(processId: number): string | null {
  return statusOf(processId)?.[START_FIELD] ?? null;
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

/**
 * Calls `found` with the number of the next workerd that this process starts, and of every one that
 * Miniflare starts in its place, should it end. Returns how to stop looking.
 */
export function whenWorkerdStarts(found: (processId: number) => void): () => void {
  let first: string | undefined;
  const look = (message: unknown): void => {
    const { process: child } = message as { process: ChildProcess };
    // It is told of before it is started.
    setImmediate(() => {
      if (child.pid === undefined || !child.spawnfile?.includes("workerd")) return;
      // Where Miniflare itself listens: a process may have several, each with its own.
      const miniflare = child.spawnargs.find((word) => word.startsWith("--external-addr=loopback"));
      first ??= miniflare ?? "";
      if (miniflare === first) found(child.pid);
    });
  };
  subscribe("child_process", look);
  return () => void unsubscribe("child_process", look);
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
  const deadline = Date.now() + END_MILLISECONDS;
  while (isThere(processId) && Date.now() < deadline) await delay(POLL_MILLISECONDS);
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
