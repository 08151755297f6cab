/**
 * A folder on a memory file system for the state of test runtimes.
 *
 * Most of the time of a write is that SQLite waits for the disk, and the state of a test ends with
 * the test. Miniflare keeps the state of a runtime in a folder of the temporary folder, so the
 * temporary folder of this process is another one while a runtime starts.
 */
import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { PoolRunnerInitializer } from "vitest/node";
import { isAlive } from "../base/processes.ts";

const memoryPath = "/dev/shm";
/** `statfs` of Linux has this type for a file system in memory. */
const memoryType = 0x01021994;
/** With less free space the state is on the disk: a full file system would fail the tests. */
const freeBytesMin = 1024 ** 3;

const namePrefix = `ledge-${process.getuid?.()}-`;

/** Whether a file system is in memory, and has room for the state of tests. */
export function isRoomyMemory(fileSystem: { type: number; bavail: number; bsize: number }) {
  const { type, bavail, bsize } = fileSystem;
  return type === memoryType && bavail * bsize >= freeBytesMin;
}

/** The path of the file system in memory, or `null` if there is none with enough room. */
function findMemory(): string | null {
  try {
    return isRoomyMemory(statfsSync(memoryPath)) ? memoryPath : null;
  } catch {
    return null;
  }
}

/** A pool runner whose runtimes have their state in memory, where there is room. */
export function keepStateInMemory(
  runner: PoolRunnerInitializer,
  find: () => string | null = findMemory,
): PoolRunnerInitializer {
  return {
    name: runner.name,
    createPoolWorker(options) {
      const worker = runner.createPoolWorker(options);
      const start = worker.start.bind(worker);
      worker.start = () => withMemoryFolder(find(), start);
      return worker;
    },
  };
}

let starts = 0;
let diskFolder: string | undefined;

/** Runtimes start at the same time, and share the folder. */
async function withMemoryFolder<Result>(
  memory: string | null,
  start: () => Promise<Result>,
): Promise<Result> {
  const folder = memory === null ? null : ownFolderIn(memory);
  if (folder === null) return start();
  if (starts++ === 0) {
    diskFolder = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
  }
  try {
    return await start();
  } finally {
    if (--starts === 0) {
      if (diskFolder === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = diskFolder;
    }
  }
}

let ownFolder: string | undefined;

/** The folder of this process, or `null` if the file system refuses one. */
function ownFolderIn(memory: string): string | null {
  try {
    ownFolder ??= makeOwnFolder(memory);
    return ownFolder;
  } catch {
    return null;
  }
}

function makeOwnFolder(memory: string): string {
  removeFoldersOfEndedProcesses(memory);
  const folder = mkdtempSync(join(memory, `${namePrefix}${process.pid}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A process that was killed leaves its folder, which takes memory. */
function removeFoldersOfEndedProcesses(memory: string): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(namePrefix)) continue;
    const processId = Number.parseInt(name.slice(namePrefix.length));
    if (!isAlive({ processId })) rmSync(join(memory, name), { recursive: true, force: true });
  }
}
