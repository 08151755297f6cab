/** Processes of this machine: whether a process is alive and still the same, and ending workerd. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Identifies a process, as files in the state folder name it. */
export interface ProcessIdentity {
  readonly processId: number;
  /** Distinguishes the process from a later process with the same id. Only Linux tells the start. */
  readonly processStart?: string | null;
}

const pollMilliseconds = 10;
const endMilliseconds = 5_000;
/** proc_pid_stat(5): fields after the name in parentheses, which is the second field. */
const stateField = 0;
const startTimeField = 19;

export function thisProcess(): ProcessIdentity {
  return { processId: process.pid, processStart: processStart(process.pid) };
}

export function isAlive({ processId, processStart: recorded = null }: ProcessIdentity): boolean {
  if (!exists(processId)) return false;
  const current = processStart(processId);
  return recorded === null || current === null || current === recorded;
}

/** Kills a process, if the process is workerd: another process may have got the id since. */
export async function killWorkerd(processId: number): Promise<void> {
  if (!exists(processId) || !isWorkerd(processId)) return;
  try {
    process.kill(processId, "SIGKILL");
  } catch {
    // The process has ended since.
  }
  const deadline = Date.now() + endMilliseconds;
  while (exists(processId) && Date.now() < deadline) await delay(pollMilliseconds);
}

function exists(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    // The process of another user exists, but accepts no signal.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  // A zombie has ended, and waits for its parent to read its exit status.
  return statusOf(processId)?.[stateField] !== "Z";
}

/** The start of a process in clock ticks since system start; `null` where the system does not tell. */
function processStart(processId: number): string | null {
  return statusOf(processId)?.[startTimeField] ?? null;
}

function statusOf(processId: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${processId}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** False where the system does not tell the command of a process. */
function isWorkerd(processId: number): boolean {
  try {
    const command =
      process.platform === "linux"
        ? readFileSync(`/proc/${processId}/cmdline`)
        : execFileSync("ps", ["-p", String(processId), "-o", "command="]);
    return command.includes("workerd");
  } catch {
    return false;
  }
}
