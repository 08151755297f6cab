/**
 * Files that a runtime was killed while writing. The disk service does not list them, so the
 * bucket cannot collect them with the rest of the garbage (`bucket/bucket-object.ts`).
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbandoned } from "../core/blob-name.ts";

/** Goes on in the background while the runtime starts: nothing depends on it. */
export async function removePartialFiles(blobs: string, notes: string): Promise<void> {
  try {
    const files = await readdir(blobs, { recursive: true, withFileTypes: true });
    const activeRuns = await readdir(notes);
    for (const { name, parentPath } of files) {
      const collectable = name.endsWith(".partial") && isAbandoned(name, activeRuns);
      if (collectable) await rm(join(parentPath, name), { force: true });
    }
  } catch (error) {
    // The folder may go while it is read: with the test that made it, for example.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      console.warn(`Cannot collect half-written files in ${blobs}: ${(error as Error).message}`);
    }
  }
}
