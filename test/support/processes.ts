/**
 * The processes of the machine, read from Linux's `/proc`.
 *
 * A process keeps its id after the death of its parent, but not its place in the tree. So each
 * process that a test starts gets a mark in its environment, which all its descendants inherit:
 * the mark finds an orphan whose parents are dead. A process is identified by its id and its start
 * time, because the system uses the ids of dead processes again.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export const hasProc = process.platform === "linux";

export interface ProcessEntry {
  readonly processId: number;
  /** In clock ticks since system start. */
  readonly start: string;
  readonly parentId: number;
  readonly groupId: number;
  /** `S`, `R`, `T` (stopped) … of proc_pid_stat(5). */
  readonly state: string;
  /** The time for which the process has computed, in clock ticks. */
  readonly processorTicks: number;
  readonly command: string;
}

/** The variable of the environment that holds the mark. */
export const markVariable = "LEDGE_FAULT_MARK";

const pollMilliseconds = 20;
/** Every kill must be done within this time, on a busy machine too. */
const endMilliseconds = 60_000;

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
  const fields = text.slice(end + 2).split(" ");
  const [state = "", parentId, groupId] = fields;
  if (state === "Z" || state === "X") return null;
  return {
    processId,
    start: fields[19] as string,
    parentId: Number(parentId),
    groupId: Number(groupId),
    state,
    processorTicks: Number(fields[11]) + Number(fields[12]),
    command: text.slice(text.indexOf("(") + 1, end),
  };
}

/** `null` when the process has ended, or belongs to another user. */
function readProcessFile(processId: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${processId}/${name}`, "latin1");
  } catch {
    return null;
  }
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

export function processTreeIds(rootId: number): number[] {
  return processTree(rootId).map(({ processId }) => processId);
}

/** Whether the process is a runtime: the name of the executable is `workerd`. */
export function isRuntimeProcess({ command }: ProcessEntry): boolean {
  return command.startsWith("workerd");
}

/** The arguments of a process; empty for a process that has ended. */
export function argumentsOf(processId: number): string[] {
  return (readProcessFile(processId, "cmdline") ?? "").split("\0").slice(0, -1);
}

/** What the descriptors of a process lead to: paths, and names of sockets and pipes. */
export function openFiles(processId: number): string[] {
  const folder = `/proc/${processId}/fd`;
  try {
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(`${folder}/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
}

/** The id of the one process besides this one that has files below `folder` open: workerd. */
export function findRuntimeProcess(folder: string): number {
  const [processId, ...others] = readProcessIds().filter(
    (id) => id !== process.pid && openFiles(id).some((path) => path.startsWith(folder)),
  );
  if (processId !== undefined && others.length === 0) return processId;
  throw new Error(`Not exactly one other process has files of ${folder} open`);
}

/** The runtime that holds the mark of a folder (`src/state/owner.ts`), which has its databases open. */
export function ownersRuntime(folder: string): ProcessEntry | undefined {
  const mark = join(realpathSync(folder), "open");
  return readProcesses().find(
    (entry) => isRuntimeProcess(entry) && openFiles(entry.processId).includes(mark),
  );
}

/** The resident set of a process. */
export function residentBytes(processId: number): number {
  const status = readProcessFile(processId, "status") ?? "";
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
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
export async function waitForEnd(processes: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const deadline = Date.now() + endMilliseconds;
  for (;;) {
    const left = processes.filter(isSameProcessAlive);
    if (left.length === 0 || Date.now() > deadline) return left;
    await delay(pollMilliseconds);
  }
}

export function describeProcesses(processes: readonly ProcessEntry[]): string {
  return processes
    .map(({ processId, state }) => {
      const words = argumentsOf(processId).join(" ");
      return `${processId} (${state}) ${words.slice(0, 160)}`;
    })
    .join("\n");
}
