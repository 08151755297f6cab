/** `ledge store gc` */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { counted, formatBytes } from "../../base/format.ts";
import { databaseMark, isAbandoned, isDatabaseMark } from "../../store/core/blob-name.ts";
import { readDatabaseId } from "../../store/node/check/database-file.ts";
import { removePartialFiles } from "../../store/node/partial-files.ts";
import { RunRecords } from "../../state/runs.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { blobFolder, filesIn, withStore, type StoreProject } from "./open-store.ts";

export const collectGarbage: LeafCommand = {
  name: "gc",
  summary: "Removes the files that crashed runtimes have left",
  details:
    "A runtime does the same by itself when it opens a bucket for the first time. The files of a\n" +
    "database that was lost stay, because a restored database would name them: --lost gives them up.",
  options: {
    lost: { summary: "Also removes the files of a database that was lost" },
    ...projectOptions,
  },

  async run(invocation) {
    await withStore(invocation, async (store) => {
      const { project } = store;
      // Opening a bucket may remove files before `collectGarbage()` does; those count too.
      const before = await abandonedFiles(project);
      for (const { bucketName, remote } of project.buckets) {
        // The service of a remote bucket has no files of a runtime.
        if (remote !== undefined) continue;
        const bucket = store.owned(bucketName);
        // A bucket that cannot be opened collects nothing. A read says why.
        await bucket.head("-");
        await bucket.collectGarbage();
        if (invocation.options["lost"] !== true) continue;
        await removeForeignMarks(project, bucketName);
        await bucket.collectGarbage();
      }
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

/** Gives up the files of other databases than the bucket's (`store/bucket/garbage-collector.ts`). */
async function removeForeignMarks(project: StoreProject, bucketName: string): Promise<void> {
  const ownMark = databaseMark(readDatabaseId(project.folder, bucketName));
  const folder = blobFolder(project, bucketName);
  for (const { name } of await filesIn(folder)) {
    if (isDatabaseMark(name) && name !== ownMark) await rm(join(folder, name), { force: true });
  }
}

/** Blobs of runs that have ended. */
async function abandonedFiles(project: StoreProject): Promise<{ name: string; bytes: number }[]> {
  const folders = project.buckets.map(({ bucketName }) => filesIn(blobFolder(project, bucketName)));
  const files = (await Promise.all(folders)).flat();
  const runIds = new RunRecords(project.folder).activeIds();
  return files.filter(({ name }) => isAbandoned(name, runIds));
}
