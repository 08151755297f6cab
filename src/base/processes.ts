/**
 * Processes of this machine: whether a process is alive and still the same, and ending the programs
 * that wrangler and Miniflare start, which are runtimes and the bundler.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";

export interface ProcessIdentity {
  readonly processId: number;
  /** Distinguishes the process from a later process with the same id; `null`: not known. */
  readonly processStart?: string | null;
}

/** Miniflare passes its loopback address to workerd as an argument. */
export const loopbackArgument = "--external-addr=loopback=";
/** The configuration file of a runtime that Ledge starts itself (`own-runtime.ts`). */
export const ownConfigName = "ledge-runtime.capnp";
/**
 * The bundler waits for ever for the answer of a parent that was killed during a call. The arguments
 * of a process are separated by zeros on Linux, and by spaces elsewhere.
 */
const bundlerPattern = /esbuild[^ \0]*[ \0]--service=/;

const pollMilliseconds = 10;
/** The kernel ends a killed process within milliseconds, unless the process waits for a disk. */
const endMilliseconds = 10_000;
/** proc_pid_stat(5): fields after the name in parentheses, which is the second field. */
const stateField = 0;
const parentField = 1;
const startTimeField = 19;

let thisIdentity: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  return (thisIdentity ??= identityOf(process.pid));
}

export function identityOf(processId: number): ProcessIdentity {
  return { processId, processStart: processStart(processId) };
}

export function isAlive({ processId, processStart: recorded = null }: ProcessIdentity): boolean {
  if (!exists(processId)) return false;
  if (recorded === null) return true;
  const current = processStart(processId);
  return current === null || current === recorded;
}

/**
 * Kills those of the processes that still run and are programs of wrangler or Miniflare, and waits
 * for their end. Another program may have got the id of a process since; that program is not killed.
 *
 * @returns the processes that have not ended
 */
export async function killPrograms(
  processes: readonly ProcessIdentity[],
): Promise<ProcessIdentity[]> {
  let left = processes.filter((each) => isAlive(each) && isProgram(each.processId));
  for (const { processId } of left) signalEnd(processId);
  const deadline = Date.now() + endMilliseconds;
  while ((left = left.filter(isAlive)).length > 0 && Date.now() < deadline) {
    await delay(pollMilliseconds);
  }
  return left;
}

function signalEnd(processId: number): void {
  try {
    process.kill(processId, "SIGKILL");
  } catch {
    // The process has ended since.
  }
}

/** Marks what this process starts, because it may be killed before it has recorded its programs. */
export function markChildren(): void {
  process.env[markVariable] = markOf(thisProcess());
}

const markVariable = "LEDGE_PARENT";

function markOf({ processId, processStart: start }: ProcessIdentity): string {
  return `${processId}.${start ?? ""}`;
}

/**
 * The programs that one of the processes has started and marked. Only Linux tells. A process that
 * one of them has started inherits the mark, and its programs do too: while that process is alive,
 * its programs are not left.
 */
export function markedPrograms(parents: readonly ProcessIdentity[]): ProcessIdentity[] {
  if (process.platform !== "linux" || parents.length === 0) return [];
  const marks = new Set(parents.map((parent) => `${markVariable}=${markOf(parent)}`));
  const isMarked = (processId: number): boolean =>
    (readProc(`${processId}/environ`) ?? "").split("\0").some((each) => marks.has(each));
  return readdirSync("/proc")
    .map(Number)
    .filter((processId) => Number.isInteger(processId))
    .filter((processId) => isProgram(processId) && isMarked(processId))
    .filter((processId) => !isMarked(parentOf(processId)))
    .map(identityOf);
}

function parentOf(processId: number): number {
  return Number(statusOf(processId)?.[parentField] ?? 0);
}

/** Only Linux tells. */
export function childPrograms(): ProcessIdentity[] {
  const text = readProc(`self/task/${process.pid}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number).filter(isProgram).map(identityOf);
}

function exists(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    // The process of another user exists, but accepts no signal.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isZombie(processId);
}

/**
 * Whether a process has ended, and waits for its parent to read its exit status. The first thread may
 * end before the others, which keep the files, the locks and the ports of the process.
 */
function isZombie(processId: number): boolean {
  if (statusOf(processId)?.[stateField] !== "Z") return false;
  const threads = threadsOf(processId).map((thread) => statusOf(`${processId}/task/${thread}`));
  return threads.every((status) => status === null || /^[ZX]$/.test(status[stateField] as string));
}

function threadsOf(processId: number): string[] {
  try {
    return readdirSync(`/proc/${processId}/task`);
  } catch {
    return [];
  }
}

/** In the form of the system; `null` where the system does not tell. */
function processStart(processId: number): string | null {
  if (process.platform === "linux") return statusOf(processId)?.[startTimeField] ?? null;
  return commandOutput("ps", ["-p", String(processId), "-o", "lstart="]);
}

/** @param entry of /proc: the id of a process, or the path of a thread */
function statusOf(entry: number | string): string[] | null {
  const text = readProc(`${entry}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? null;
}

/** `null` where there is no /proc, for a process that has ended, and for a secret of another user. */
function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return null;
  }
}

/** False where the system does not tell the arguments of a process. */
function isProgram(processId: number): boolean {
  const command =
    process.platform === "linux"
      ? readProc(`${processId}/cmdline`)
      : commandOutput("ps", ["-p", String(processId), "-o", "command="]);
  if (command === null) return false;
  return isRuntimeCommand(command) || bundlerPattern.test(command);
}

/** The name of the executable does not tell: MINIFLARE_WORKERD_PATH can name any file. */
export function isRuntimeCommand(command: string): boolean {
  return command.includes(loopbackArgument) || command.includes(ownConfigName);
}

/** `null` on Windows, and when the process does not exist. */
function commandOutput(command: string, args: string[]): string | null {
  if (process.platform === "win32") return null;
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

/**
 * Removes the folders of processes that have ended: a process that was killed leaves its folder.
 *
 * @param pattern of the names; its first group is the id of the process
 */
export function removeLeftFolders(parent: string, pattern: RegExp): void {
  for (const name of readdirSync(parent)) {
    const processId = Number(pattern.exec(name)?.[1]);
    if (!Number.isInteger(processId) || isAlive({ processId })) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // The folder of another user.
    }
  }
}
