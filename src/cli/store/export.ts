/**
 * `ledge store export`: a bucket into a folder, with one file for each object and a manifest for what
 * files cannot hold.
 *
 * A file appears under its name when it is complete, and the manifest when all files are complete.
 * A file that has the size and the md5 of its object already is skipped, so an export that was
 * stopped continues when it is run again. An export removes nothing: files of deleted objects stay.
 */
import { join, resolve } from "node:path";
import { Progress } from "../../base/progress.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { fetchObject, firstPartBytes, listPages } from "../../store/node/bucket-objects.ts";
import { FileContent } from "../../store/node/file-content.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import { FilePaths, manifestName } from "../../store/node/file-path.ts";
import { FolderWriter } from "./folder/folder-writer.ts";
import { ManifestWriter, readManifest } from "./folder/manifest.ts";
import { reportTransfer, transferAll, type TransferResult } from "./folder/transfer.ts";
import { withStore } from "./open-store.ts";
import { bucketArgument, folderArgument } from "./parameters.ts";

export const exportObjects: LeafCommand = {
  name: "export",
  summary: "Writes the objects of a bucket to a folder",
  details:
    "A key becomes the path of a file where that is possible. .ledge-metadata.jsonl holds the\n" +
    "metadata, and the keys of all other files. Files that are the same already are skipped.",
  arguments: [bucketArgument, folderArgument],
  options: {
    prefix: { summary: "Exports only keys with this prefix", value: "PREFIX" },
    ...projectOptions,
  },
  examples: ["ledge store export photos ./backup"],

  async run(invocation) {
    const [word, folder] = invocation.arguments as [string, string];
    const prefix = textOption(invocation, "prefix") ?? "";
    return withStore(invocation, async (store) => {
      const bucket = store.bucket(word);
      const { objects } = await bucket.call({ method: "stats" });
      // The number of objects with a prefix is not known before the listing ends.
      const progress = new Progress("Exporting", prefix === "" ? objects : null);
      const writer = new FolderWriter(resolve(folder));
      const result = await writer
        .withPartialFolder(() => exportInto(writer, bucket, prefix, progress))
        .finally(() => progress.end());
      return reportTransfer(invocation, "Exported", result);
    });
  },
};

async function exportInto(
  folder: FolderWriter,
  bucket: Bucket,
  prefix: string,
  progress: Progress,
): Promise<TransferResult> {
  const { root } = folder;
  const manifest = new ManifestWriter(folder.partialPath());
  const paths = new FilePaths();
  /** The etags of objects that were uploaded in parts and have no md5, by path. */
  const etags = new Map<string, string>();
  for await (const entry of readManifest(root)) {
    const { key, path, etag, checksums } = entry;
    if (!key.startsWith(prefix)) {
      // The entry comes from another export, and still holds.
      paths.take(path);
      await manifest.add({ ...entry, version: "", uploaded: 0 }, entry);
    } else if (checksums.md5 === undefined) etags.set(path, etag);
  }
  const result = await transferAll(exportedFiles(bucket, prefix, paths), {
    nameOf: ({ object }) => object.key,
    async transfer({ object, path }) {
      const isUnchanged = await hasContent(join(root, path), object, etags.get(path));
      // The object may have been replaced or deleted since it was listed.
      const exported = isUnchanged
        ? object
        : await fetchObject(bucket, object.key, async (fetched) => {
            await folder.write(path, fetched);
            return fetched.object;
          });
      if (exported === null) return "gone";
      const partBytes = await partBytesOf(bucket, exported);
      await manifest.add(exported, { path, ...(partBytes !== undefined && { partBytes }) });
      return isUnchanged ? "unchanged" : exported.size;
    },
    progress,
  });
  await manifest.end(join(root, manifestName));
  return result;
}

/** Assigns paths in the order of keys, so that each export assigns the same paths. */
async function* exportedFiles(bucket: Bucket, prefix: string, paths: FilePaths) {
  for await (const { objects } of listPages(bucket, { prefix })) {
    for (const object of objects) yield { object, path: paths.pathOf(object.key) };
  }
}

/**
 * The size of the first part of an object that was uploaded in parts. All parts have this size but the
 * last.
 */
async function partBytesOf(bucket: Bucket, object: ObjectRecord): Promise<number | undefined> {
  // Only an upload in parts has no md5.
  if (object.checksums.md5 !== undefined) return undefined;
  // The object may have been replaced since it was exported.
  const bytes = await firstPartBytes(bucket, object);
  return bytes === null ? undefined : Math.max(bytes, 1);
}

/** @param exportedEtag the etag that the manifest has for a file without md5 */
async function hasContent(
  path: string,
  { size, etag, checksums }: ObjectRecord,
  exportedEtag: string | undefined,
): Promise<boolean> {
  let content: FileContent;
  try {
    content = FileContent.of(path);
  } catch {
    return false;
  }
  if (content.size !== size) return false;
  return checksums.md5 === undefined
    ? exportedEtag === etag
    : (await content.hash("md5")) === checksums.md5;
}
