/** `ledge store gc` */
import { join } from "node:path";
import { counted, formatBytes } from "../../base/format.ts";
import { isAbandoned } from "../../store/core/blob-name.ts";
import { removePartialFiles } from "../../store/node/partial-files.ts";
import { storeRuns } from "../../store/node/store-owner.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { blobFolder, filesIn, withStore, type StoreProject } from "./open-store.ts";

export const collectGarbage: LeafCommand = {
  name: "gc",
  summary: "Removes the files that crashed runtimes have left",
  details: "A runtime does the same by itself when it opens a bucket for the first time.",
  options: projectOptions,

  async run(invocation) {
    await withStore(invocation, async (store) => {
      const { project } = store;
      // Opening a bucket may remove files before `collectGarbage()` does; those count too.
      const before = await abandonedFiles(project);
      for (const { bucketName } of project.buckets) await store.bucket(bucketName).collectGarbage();
      await removePartialFiles(join(project.folder, "blobs"), join(project.folder, "runs"));
      const kept = new Set((await abandonedFiles(project)).map(({ name }) => name));
      const removed = before.filter(({ name }) => !kept.has(name));
      const bytes = removed.reduce((sum, file) => sum + file.bytes, 0);
      print(
        invocation,
        { files: removed.length, bytes },
        `Removed ${counted(removed.length, "unused file")}: ${formatBytes(bytes)}.`,
      );
    });
  },
};

/** Blobs of runs that have ended. */
async function abandonedFiles(project: StoreProject): Promise<{ name: string; bytes: number }[]> {
  const folders = project.buckets.map(({ bucketName }) => filesIn(blobFolder(project, bucketName)));
  const files = (await Promise.all(folders)).flat();
  const runIds = storeRuns(project.folder).activeIds();
  return files.filter(({ name }) => isAbandoned(name, runIds));
}
