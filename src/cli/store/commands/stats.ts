import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { bucketFolder } from "../../../store/core/blob-name.ts";
import type { Invocation } from "../../command.ts";
import { formatBytes, formatTable } from "../../../base/format.ts";
import { print, withStore, type OpenStore } from "../with-store.ts";

interface BucketStats {
  readonly name: string;
  readonly objects: number;
  readonly bytes: number;
  readonly uploads: number;
  /** Databases, files and what is left over from changes. */
  readonly bytesOnDisk: number;
}

export function showStats(invocation: Invocation): Promise<void> {
  const [word] = invocation.arguments;
  return withStore(invocation, async (store) => {
    const names =
      word === undefined ? store.project.buckets.map(({ bucketName }) => bucketName) : [word];
    const stats: BucketStats[] = [];
    for (const name of names) stats.push(await bucketStats(store, name));
    const rows = stats.map(({ name, objects, bytes, uploads, bytesOnDisk }) => [
      name,
      objects,
      formatBytes(bytes),
      uploads,
      formatBytes(bytesOnDisk),
    ]);
    const head = ["bucket", "objects", "size", "uploads", "on disk"];
    print(invocation, stats, rows.length === 0 ? "" : formatTable([head, ...rows]));
  });
}

async function bucketStats(store: OpenStore, word: string): Promise<BucketStats> {
  const { project } = store;
  const remote = store.bucket(word);
  const { name } = remote;
  const counts = await remote.call({ method: "stats" });
  const database = await remote.databaseName();
  const blobs = await filesIn(join(project.folder, "blobs", bucketFolder(name)));
  const databases = await filesIn(join(project.folder, "databases", "ledge-store-bucket"));
  const own = databases.filter((file) => file.name.startsWith(`${database}.`));
  const bytesOnDisk = [...blobs, ...own].reduce((sum, file) => sum + file.bytes, 0);
  return { name, ...counts, bytesOnDisk };
}

/** Files come and go while they are counted. */
export async function filesIn(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.isFile() === true ? [{ name, bytes: found.size }] : [];
  });
  return (await Promise.all(files)).flat();
}
