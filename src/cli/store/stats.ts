/** `ledge store stats` */
import { basename, dirname } from "node:path";
import { formatBytes, formatTable } from "../../base/format.ts";
import { databasePath } from "../../store/node/store-files.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { blobFolder, filesIn, withStore, type OpenStore } from "./open-store.ts";
import { bucketArgument } from "./parameters.ts";

export const stats: LeafCommand = {
  name: "stats",
  summary: "Counts objects, bytes, uploads and the space on disk",
  arguments: [{ ...bucketArgument, optional: true }],
  options: projectOptions,

  async run(invocation) {
    await withStore(invocation, async (store) => {
      const counts = [];
      for (const bucket of store.buckets(invocation.arguments)) {
        const { name, known } = bucket;
        const count = await bucket.call({ method: "stats" });
        const isRemote = known.remote !== undefined;
        counts.push({
          name,
          ...count,
          bytesOnDisk: isRemote ? null : await bytesOnDisk(store, name),
        });
      }
      const rows = counts.map(({ name, objects, bytes, uploads, bytesOnDisk: onDisk }) => [
        name,
        objects,
        formatBytes(bytes),
        uploads,
        onDisk === null ? "-" : formatBytes(onDisk),
      ]);
      const header = ["bucket", "objects", "size", "uploads", "on disk"];
      print(invocation, counts, rows.length === 0 ? "" : formatTable([header, ...rows]));
    });
  },
};

/** The database and the blobs, including blobs that no object refers to any more. */
async function bytesOnDisk({ project }: OpenStore, bucketName: string): Promise<number> {
  const path = databasePath(project.folder, bucketName);
  const blobs = await filesIn(blobFolder(project, bucketName));
  const databases = await filesIn(dirname(path));
  const database = databases.filter(({ name }) => name.startsWith(basename(path)));
  return [...blobs, ...database].reduce((sum, { bytes }) => sum + bytes, 0);
}
