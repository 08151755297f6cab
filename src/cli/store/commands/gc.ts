import { join } from "node:path";
import { removePartialFiles } from "../../../store/node/partial-files.ts";
import { storeRuns } from "../../../store/node/store-owner.ts";
import { bucketFolder, isAbandoned } from "../../../store/core/blob-name.ts";
import type { Invocation } from "../../command.ts";
import { counted, formatBytes } from "../../../base/format.ts";
import type { StoreProject } from "../project.ts";
import { print, withStore } from "../with-store.ts";
import { filesIn } from "./stats.ts";

/**
 * Files of runs that have ended are looked at before and after: opening the store may collect some
 * of them by itself, and they count as well.
 */
export async function collectGarbage(invocation: Invocation): Promise<void> {
  await withStore(invocation, async (store) => {
    const { project } = store;
    const before = await abandonedFiles(project);
    for (const { bucketName } of project.buckets) await store.bucket(bucketName).collectGarbage();
    await removePartialFiles(join(project.folder, "blobs"), join(project.folder, "runs"));
    const kept = new Set((await abandonedFiles(project)).map(({ name }) => name));
    const removed = before.filter(({ name }) => !kept.has(name));
    const bytes = removed.reduce((sum, file) => sum + file.bytes, 0);
    print(
      invocation,
      { files: removed.length, bytes },
      `Removed ${counted(removed.length, "file")} that nothing refers to: ${formatBytes(bytes)}.`,
    );
  });
}

async function abandonedFiles(project: StoreProject): Promise<{ name: string; bytes: number }[]> {
  const folders = project.buckets.map(({ bucketName }) =>
    filesIn(join(project.folder, "blobs", bucketFolder(bucketName))),
  );
  const files = (await Promise.all(folders)).flat();
  const runs = await storeRuns(project.folder).findActiveIds();
  return files.filter(({ name }) => isAbandoned(name, runs));
}
