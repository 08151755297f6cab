/** Folders that belong to one process, and that a process leaves when it is killed. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "./processes.ts";

/**
 * Removes the folders of processes that have ended.
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
