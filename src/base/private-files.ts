/**
 * The state of a project is private to the user: folders have mode 0700 and files 0600.
 *
 * The folders of this process get the mode when they are made. What workerd makes has the mode that
 * workerd's umask leaves, and workerd inherits the umask of the process that starts it. Neither
 * Miniflare nor Node has an option for the umask of a child, so the umask of this process is changed for the
 * moment of the start. All other files of this process, and the files of other child processes,
 * keep the user's umask.
 *
 * Node has no umask in worker threads. There, and on Windows, the mode of the folders protects what
 * is below them.
 */
import type { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { isRuntimeCommand } from "./processes.ts";
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const folderMode = 0o700;
const fileMode = 0o600;
const othersMask = 0o077;

/**
 * Makes a folder that other users cannot enter, and the folders above it where they are missing. A
 * folder that an earlier version has left open is closed at once; its content, which is then out of
 * reach, follows in the background.
 */
export function makePrivateFolder(path: string): void {
  // A mode given here would apply to the folders above ours too.
  const isNew = mkdirSync(path, { recursive: true }) !== undefined;
  try {
    if ((statSync(path).mode & othersMask) === 0) return;
    chmodSync(path, folderMode);
    if (!isNew) void closeContent(path).catch(() => {});
  } catch {
    // The folder belongs to another user, or its file system has no modes.
  }
}

async function closeContent(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // The runtime may have removed the entry meanwhile. A link has no mode of its own.
    if (entry.isDirectory()) {
      await chmod(path, folderMode).catch(() => {});
      await closeContent(path).catch(() => {});
    } else if (entry.isFile()) {
      await chmod(path, fileMode).catch(() => {});
    }
  }
}

let isPrivate = false;

/** What the runtimes make that this process starts from now on is private to the user. */
export function keepRuntimeFilesPrivate(): void {
  if (isPrivate || !isMainThread || process.platform === "win32") return;
  isPrivate = true;
  // Node publishes the object of a child process before it starts the process.
  subscribe("child_process", (message) => {
    const { process: child } = message as { process: SpawningProcess };
    const spawn = child.spawn.bind(child);
    child.spawn = (options) =>
      isRuntime(options) ? withPrivateUmask(spawn, options) : spawn(options);
  });
}

interface SpawnOptions {
  readonly args?: readonly string[];
}

/** `spawn` is the method that starts the process. Node does not document it. */
type SpawningProcess = ChildProcess & { spawn(options: SpawnOptions): unknown };

function isRuntime({ args }: SpawnOptions): boolean {
  return args?.some(isRuntimeCommand) === true;
}

function withPrivateUmask<Argument, Result>(
  act: (argument: Argument) => Result,
  argument: Argument,
): Result {
  const before = process.umask(othersMask);
  try {
    return act(argument);
  } finally {
    process.umask(before);
  }
}

/**
 * A private file that is made once, such as a secret: later processes read what the first has made.
 *
 * Two processes may start at the same time. Each writes a file of its own and links it to the name;
 * the link of the second fails, and both read the same file.
 */

interface PrivateFile {
  readonly folder: string;
  readonly name: string;
}

/** The text of the file, which gets the text that `make` returns if there is no file. */
export function readOrMakeFile({ folder, name }: PrivateFile, make: () => string): string {
  const path = join(folder, name);
  return readText(path) ?? makeText(folder, path, make());
}

function makeText(folder: string, path: string, made: string): string {
  makePrivateFolder(folder);
  const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(own, made, { mode: 0o600, flag: "wx" });
  try {
    linkSync(own, path);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readText(path) ?? made;
  } finally {
    rmSync(own, { force: true });
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
