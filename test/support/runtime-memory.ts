/** The memory of a runtime's process, read from `/proc`: on Linux only. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The resident set of a process. */
export function residentBytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The id of the one process besides this one that has files below `folder` open: workerd. */
export function findRuntimeProcess(folder: string): number {
  const [processId, ...others] = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid && hasFilesOpen(name, folder),
  );
  if (processId === undefined || others.length > 0) {
    throw new Error(
      `Cannot find the runtime: not exactly one other process has files of ${folder} open`,
    );
  }
  return Number(processId);
}

function hasFilesOpen(processId: string, folder: string): boolean {
  try {
    return readdirSync(`/proc/${processId}/fd`).some((descriptor) =>
      readlinkSync(`/proc/${processId}/fd/${descriptor}`).startsWith(folder),
    );
  } catch {
    // The process belongs to another user, or has ended.
    return false;
  }
}
