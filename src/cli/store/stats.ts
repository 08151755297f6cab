/** `ledge store stats` */
import { join } from "node:path";
import { formatBytes, formatTable } from "../../base/format.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import type { OpenStore } from "./open-store.ts";
import { bucketArgument } from "./parameters.ts";

interface BucketStats {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
  readonly uploads: number;
  /** The database and the blobs, including blobs that no object refers to any more. */
  readonly bytesOnDisk: number;
}

export const stats: LeafCommand = {
  name: "stats",
  summary: "Counts objects, bytes, uploads and the space on disk",
  arguments: [{ ...bucketArgument, optional: true }],
  options: projectOptions,

  async run(invocation) {
    const { withStore } = await import("./library.ts");
    const [word] = invocation.arguments;
    await withStore(invocation, async (store) => {
      const names =
        word === undefined ? store.project.buckets.map(({ bucketName }) => bucketName) : [word];
      const counts: BucketStats[] = [];
      for (const name of names) counts.push(await bucketStats(store, name));
      const rows = counts.map(({ name, objects, bytes, uploads, bytesOnDisk }) => [
        name,
        objects,
        formatBytes(bytes),
        uploads,
        formatBytes(bytesOnDisk),
      ]);
      const header = ["bucket", "objects", "size", "uploads", "on disk"];
      print(invocation, counts, rows.length === 0 ? "" : formatTable([header, ...rows]));
    });
  },
};

async function bucketStats({ project, bucket }: OpenStore, word: string): Promise<BucketStats> {
  const { blobFolder, filesIn } = await import("./library.ts");
  const opened = bucket(word);
  const { name } = opened;
  const counts = await opened.call({ method: "stats" });
  const databaseName = await opened.databaseName();
  const blobs = await filesIn(blobFolder(project, name));
  const databases = await filesIn(join(project.folder, "databases", "ledge-store-bucket"));
  const database = databases.filter((file) => file.name.startsWith(`${databaseName}.`));
  const bytesOnDisk = [...blobs, ...database].reduce((sum, file) => sum + file.bytes, 0);
  return { name, ...counts, bytesOnDisk };
}
