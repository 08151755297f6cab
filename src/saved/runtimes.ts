/**
 * The runtimes that have databases of a state folder open, and how they are frozen for a moment.
 *
 * A process that is stopped (SIGSTOP) is one moment of all its bindings: what it has acknowledged is in the
 * kernel's pages of its files, and it writes nothing until it goes on. This needs no part of the runtime, so it
 * is the same for a runtime of `ledge dev`, of wrangler, of Vite and of a command.
 *
 * Of the processes that have such files open, only runtimes (`base/programs.ts`) are frozen. Another program with
 * a database open, such as `sqlite3`, would write to files that are being replaced: that is an error. Processes of
 * Ledge hold locks and sockets only, or read a database for a moment.
 *
 * If this process is killed meanwhile, a shell (the guardian) lets the runtimes go on. If the journal of a
 * restoration exists then, their files are being replaced, and the guardian kills them instead.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import type { Socket } from "node:net";
import { basename, join, sep } from "node:path";
import { isMarkHeld } from "../base/open-mark.ts";
import { isRuntimeProgram } from "../base/programs.ts";
import { UserError } from "../base/user-error.ts";
import { isLocked } from "../state/lock.ts";
import { persistPath, pluginFolder } from "../state/folder.ts";
import { markPath } from "../state/owner.ts";
import type { DatabaseFiles } from "../state/database-files.ts";

export interface Runtime {
  readonly processId: number;
  /** The process that has started it. */
  readonly parentId: number;
  /** Whether it has databases of zones open, and no others. */
  readonly isOfDns: boolean;
}

interface FolderUser {
  readonly processId: number;
  readonly args: readonly string[];
  readonly paths: readonly string[];
}

const databasePattern = /\.sqlite(?:-wal|-shm|-journal)?$/;

/**
 * @throws UserError when another program has a database open, or a runtime runs that cannot be seen from here
 */
export function findRuntimes(stateFolder: string): Runtime[] {
  if (process.platform === "win32") return requireUnused(stateFolder);
  const persist = realPath(persistPath(stateFolder));
  if (persist === null) return [];
  const users = process.platform === "linux" ? usersInProc(persist) : usersByLsof(persist);
  const runtimes: FolderUser[] = [];
  for (const user of users) {
    if (isRuntimeProgram(user.args)) runtimes.push(user);
    else requireNoDatabase(user);
  }
  for (const plugin of ["store", "dns"]) {
    const folder = pluginFolder(stateFolder, plugin);
    const isSeen = runtimes.some(({ paths }) =>
      paths.some((path) => path.startsWith(join(persist, plugin) + sep)),
    );
    if (isMarkHeld(markPath(folder)) && !isSeen) {
      throw new InUseError(
        `A runtime of another container has the databases in ${folder} open, and cannot be stopped ` +
          "from here. Save and restore in that container, or stop what runs there.",
      );
    }
  }
  const dns = join(persist, "dns") + sep;
  return runtimes.map(({ processId, paths }) => ({
    processId,
    parentId: parentOf(processId),
    isOfDns: paths.every((path) => path.startsWith(dns)),
  }));
}

/**
 * Whether no process but a runtime has some of the databases open. SQLite holds a lock on the index of an open database,
 * and the kernel lists all locks in one file: to look at the files of each process takes longer.
 */
export function isOnlyUser(
  stateFolder: string,
  processId: number,
  databases: readonly DatabaseFiles[],
): boolean {
  const holders = new Set(process.platform === "linux" ? lockHolders(databases) : []);
  // Some file systems show other files than those that have the locks.
  if (!holders.has(processId)) {
    const runtimes = findRuntimes(stateFolder).filter(({ isOfDns }) => !isOfDns);
    return runtimes.every((each) => each.processId === processId);
  }
  return holders.size === 1;
}

function lockHolders(databases: readonly DatabaseFiles[]): number[] {
  const indexes = new Set(databases.flatMap(({ indexInode }) => indexInode ?? []));
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .flatMap((line) => {
      // 1: POSIX  ADVISORY  READ 4711 fe:00:2392113 128 128
      const [, , , , id, file = ""] = line.split(/\s+/);
      return indexes.has(file.split(":")[2] ?? "") ? Number(id) : [];
    });
}

function requireUnused(stateFolder: string): [] {
  for (const plugin of ["store", "dns"]) {
    if (!isLocked(join(pluginFolder(stateFolder, plugin), "lock"))) continue;
    throw new UserError(
      `${stateFolder} is in use. On Windows a state is saved and restored while no process uses the ` +
        "folder: stop the dev server, and try again.",
    );
  }
  return [];
}

function requireNoDatabase({ processId, args, paths }: FolderUser): void {
  const path = paths.find((each) => databasePattern.test(each));
  if (path === undefined || processId === process.pid) return;
  throw new InUseError(
    `${basename(args[0] ?? "A program")} (process ${processId}) has the database ${path} open. ` +
      "Close it there, and try again.",
  );
}

/** Another program has a database open. A runtime or a command that is ending has it open for a moment, too. */
export class InUseError extends UserError {}

function usersInProc(persist: string): FolderUser[] {
  const users: FolderUser[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const paths = openPaths(`/proc/${name}/fd`).filter((path) => path.startsWith(persist + sep));
    if (paths.length > 0) users.push({ processId: Number(name), args: argsOf(name), paths });
  }
  return users;
}

/** The paths of the files that a process has open. */
export function openFiles(processId: number): string[] {
  if (process.platform === "linux") return openPaths(`/proc/${processId}/fd`);
  return parseLsof(lsof("-p", String(processId))).flatMap(({ paths }) => paths);
}

function openPaths(folder: string): string[] {
  const paths: string[] = [];
  try {
    for (const name of readdirSync(folder)) paths.push(readlinkSync(join(folder, name)));
  } catch {
    // The process has ended, or belongs to another user.
  }
  return paths;
}

function argsOf(processId: number | string): string[] {
  try {
    return readFileSync(`/proc/${processId}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function usersByLsof(persist: string): FolderUser[] {
  return parseLsof(lsof("+D", persist)).map(({ processId, paths }) => ({
    processId,
    paths,
    args: argumentsOf(processId),
  }));
}

function lsof(...args: readonly string[]): string {
  try {
    // The status is 1 when a process has no such file.
    const command = `lsof -nP -w -Fpn "$@"; true`;
    return execFileSync("/bin/sh", ["-c", command, "lsof", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    throw new UserError(
      `Cannot find the files that processes use (${args.join(" ")}): ${(error as Error).message}`,
    );
  }
}

/** @param text of `lsof -F pn`: a line for each process, and a line for each of its files */
export function parseLsof(text: string): { processId: number; paths: string[] }[] {
  const users: { processId: number; paths: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("p")) users.push({ processId: Number(line.slice(1)), paths: [] });
    else if (line.startsWith("n")) users.at(-1)?.paths.push(line.slice(1));
  }
  return users;
}

function psOf(processId: number, field: string): string {
  try {
    return execFileSync("ps", ["-o", `${field}=`, "-p", String(processId)], {
      encoding: "utf8",
    }).trim();
  } catch {
    return "";
  }
}

function parentOf(processId: number): number {
  return process.platform === "linux"
    ? Number(statusOf(String(processId)).parentId)
    : Number(psOf(processId, "ppid"));
}

/** The programs that have started the runtimes, each once: "wrangler (process 4711)". */
export function describePrograms(runtimes: readonly Runtime[]): string[] {
  return [...new Set(runtimes.map(({ parentId }) => parentId))].map((parentId) => {
    const args = argumentsOf(parentId);
    const tools = args.map((arg) => /(?:^|\/)(wrangler|vite|vitest|ledge)\b/.exec(arg)?.[1]);
    const name = tools.find((each) => each !== undefined) ?? basename(args[0] ?? "a program");
    return `${name} (process ${parentId})`;
  });
}

function argumentsOf(processId: number): string[] {
  return process.platform === "linux" ? argsOf(processId) : psOf(processId, "args").split(" ");
}

/** @param entry below /proc */
function statusOf(entry: string): { readonly state: string; readonly parentId: string } {
  try {
    const text = readFileSync(`/proc/${entry}/stat`, "latin1");
    // The name of the program stands in parentheses, and may contain any character.
    const [state = "", parentId = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, parentId };
  } catch {
    return { state: "X", parentId: "" };
  }
}

export interface Frozen {
  /** Lets the runtimes go on. A second call does nothing, and none after `kill()`. */
  thaw(): void;
  /** Ends the runtimes: the tools that have started them start others. */
  kill(): void;
  /** Lets the runtimes go on, unless files have been replaced and others have not. */
  end(): void;
}

/** A thread that waits for the device stops when the device has answered. */
const freezeMilliseconds = 10_000;
const pollMilliseconds = 1;

/** The arguments: the journal, and the processes. A line on standard input means that all is well. */
const guardProgram = `trap "" HUP INT TERM
read -r _ && exit
if [ -e "$0" ]; then kill -9 "$@"; else kill -CONT "$@"; fi`;

/**
 * Returns when no thread of the runtimes runs. The caller does its work in one go, and calls `thaw` or `kill`.
 *
 * @param journal if this file exists when this process is killed, the runtimes are killed; `null` for runtimes that
 *   end with this process in any case
 */
export function freeze(
  runtimes: readonly Pick<Runtime, "processId">[],
  journal: string | null,
): Frozen {
  const ids = runtimes.map(({ processId }) => processId);
  if (ids.length === 0) return { thaw() {}, kill() {}, end() {} };
  const endGuard = journal === null ? () => {} : startGuard(ids, journal);
  let isEnded = false;
  const end = (name: NodeJS.Signals): void => {
    if (isEnded) return;
    isEnded = true;
    signal(ids, name);
    endGuard();
  };
  const frozen = {
    thaw: () => end("SIGCONT"),
    kill: () => end("SIGKILL"),
    end: () => end(journal !== null && existsSync(journal) ? "SIGKILL" : "SIGCONT"),
  };
  try {
    signal(ids, "SIGSTOP");
    waitUntilStopped(ids);
  } catch (error) {
    frozen.thaw();
    throw error;
  }
  return frozen;
}

function startGuard(processIds: readonly number[], journal: string): () => void {
  const guard = spawn("/bin/sh", ["-c", guardProgram, journal, ...processIds.map(String)], {
    stdio: ["pipe", "ignore", "ignore"],
    // The end of a terminal's process group is not the end of the guardian.
    detached: true,
  });
  const pipe = guard.stdin as Socket;
  pipe.on("error", () => {});
  pipe.unref();
  guard.unref();
  return () => void pipe.end("\n");
}

function signal(processIds: readonly number[], name: NodeJS.Signals): void {
  for (const processId of processIds) {
    try {
      process.kill(processId, name);
    } catch (error) {
      // The runtime has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

function waitUntilStopped(processIds: readonly number[]): void {
  const deadline = Date.now() + freezeMilliseconds;
  while (!processIds.every(isStopped)) {
    if (Date.now() > deadline) {
      throw new UserError(
        "A runtime does not stop for the moment of a save: it waits for its device. Try again.",
      );
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMilliseconds);
  }
}

/** Each thread stops for itself. */
function isStopped(processId: number): boolean {
  if (process.platform !== "linux") return /^[TZ]?/.exec(psOf(processId, "state"))?.[0] !== "";
  return threadsOf(processId).every((thread) =>
    ["T", "t", "Z", "X"].includes(statusOf(`${processId}/task/${thread}`).state),
  );
}

function threadsOf(processId: number): string[] {
  try {
    return readdirSync(`/proc/${processId}/task`);
  } catch {
    return [];
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
