/**
 * Removes the files that a killed runtime was writing. The disk service does not list them, so the
 * bucket cannot collect them with other garbage (`bucket/bucket-object.ts`).
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbandoned, isPartialMark } from "../core/content.ts";

/** Runs while the runtime starts: nothing depends on the result. */
export async function removePartialFiles(blobsFolder: string, runsFolder: string): Promise<void> {
  try {
    const files = await readdir(blobsFolder, { recursive: true, withFileTypes: true });
    const activeRuns = await readdir(runsFolder);
    for (const { name, parentPath } of files) {
      // The name of a mark does not say which run writes it.
      const isLeftMark = isPartialMark(name) && activeRuns.length <= 1;
      const collectable =
        isLeftMark || (name.endsWith(".partial") && isAbandoned(name, activeRuns));
      if (collectable) await rm(join(parentPath, name), { force: true });
    }
  } catch (error) {
    // Another process may remove the folder while it is read: a test, for example.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      console.warn(`Cannot remove partial files in ${blobsFolder}: ${(error as Error).message}`);
    }
  }
}
