/**
 * The processes of the machine, read from `/proc`.
 *
 * A process keeps its id after the death of its parent, but not its place in the tree. So each
 * process that a test starts gets a mark in its environment, which all its descendants inherit:
 * the mark finds an orphan whose parents are dead. A process is identified by its id and its start
 * time, because the system uses the ids of dead processes again.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export interface ProcessEntry {
  readonly processId: number;
  /** In clock ticks since system start. */
  readonly start: string;
  readonly parentId: number;
  /** `S`, `R`, `T` (stopped) … of proc_pid_stat(5). */
  readonly state: string;
  readonly command: string;
}

/** The variable of the environment that holds the mark. */
export const markVariable = "LEDGE_FAULT_MARK";

const pollMilliseconds = 20;
/** Every kill must be done within this time, on a busy machine too. */
const endMilliseconds = 15_000;

/** All processes that have not ended. A zombie has ended. */
export function readProcesses(): ProcessEntry[] {
  return readProcessIds()
    .map(readProcess)
    .filter((entry) => entry !== null);
}

/** Of all processes, including zombies. */
export function readProcessIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** `null` when the process has ended. */
export function readProcess(processId: number): ProcessEntry | null {
  const text = readProcessFile(processId, "stat");
  if (text === null) return null;
  // The name of the program stands in parentheses, and may contain any character.
  const end = text.lastIndexOf(")");
  const [state, parentId, ...rest] = text.slice(end + 2).split(" ") as [string, string];
  if (state === "Z" || state === "X") return null;
  return {
    processId,
    start: (rest as string[])[17] as string,
    parentId: Number(parentId),
    state,
    command: text.slice(text.indexOf("(") + 1, end),
  };
}

export function isSameProcessAlive({ processId, start }: ProcessEntry): boolean {
  return readProcess(processId)?.start === start;
}

/** The process and its descendants, parents first. */
export function processTree(rootId: number): ProcessEntry[] {
  const all = readProcesses();
  const found = all.filter(({ processId }) => processId === rootId);
  for (const parent of found) {
    found.push(...all.filter(({ parentId }) => parentId === parent.processId));
  }
  return found;
}

/** The living processes that carry the mark. */
export function markedProcesses(mark: string): ProcessEntry[] {
  return readProcesses().filter(({ processId }) => markOf(processId) === mark);
}

export function markOf(processId: number): string | null {
  const environment = readProcessFile(processId, "environ");
  const prefix = `${markVariable}=`;
  const entry = environment?.split("\0").find((each) => each.startsWith(prefix));
  return entry?.slice(prefix.length) ?? null;
}

/** Whether the process is a runtime: the name of the executable is `workerd`. */
export function isRuntimeProcess({ command }: ProcessEntry): boolean {
  return command.startsWith("workerd");
}

/** Sends a signal to a process that may have ended. */
export function signal(processId: number, name: NodeJS.Signals): void {
  try {
    process.kill(processId, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Kills these processes, and waits for their end. */
export async function killProcesses(processes: readonly ProcessEntry[]): Promise<void> {
  for (const entry of processes) {
    if (isSameProcessAlive(entry)) signal(entry.processId, "SIGKILL");
  }
  const left = await waitForEnd(processes);
  if (left.length > 0) throw new Error(`SIGKILL did not end ${describeProcesses(left)}`);
}

/** Waits until all have ended. @returns the processes that have not */
export async function waitForEnd(
  processes: readonly ProcessEntry[],
  timeoutMilliseconds = endMilliseconds,
): Promise<ProcessEntry[]> {
  const deadline = Date.now() + timeoutMilliseconds;
  for (;;) {
    const left = processes.filter(isSameProcessAlive);
    if (left.length === 0 || Date.now() > deadline) return left;
    await delay(pollMilliseconds);
  }
}

export function describeProcesses(processes: readonly ProcessEntry[]): string {
  return processes
    .map(({ processId, state }) => {
      const words = readProcessFile(processId, "cmdline")?.replaceAll("\0", " ") ?? "";
      return `${processId} (${state}) ${words.slice(0, 160)}`;
    })
    .join("\n");
}

/** `null` when the process has ended, or belongs to another user. */
function readProcessFile(processId: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${processId}/${name}`, "latin1");
  } catch {
    return null;
  }
}
