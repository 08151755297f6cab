/**
 * `ledge store export`: a bucket into a folder with one file for each object and a manifest for what files
 * cannot hold (`exported-folder.ts`). A file appears under its name when it is complete, and the manifest
 * when all files are complete. A file that has the bytes already is skipped, so an export that was stopped
 * continues when it is run again.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Progress } from "../../base/progress.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";
import { fetchObject, firstPartBytes, listPages } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { FilePaths, manifestName } from "../../store/node/file-path.ts";
import { readManifest, writeExport, type WrittenExport } from "./exported-folder.ts";
import { filesBelow } from "./import.ts";
import { bucketArgument, folderArgument, storeCommand } from "./open-store.ts";
import {
  deleteOthers,
  removeMovedObject,
  reportTransfer,
  transferAll,
  type TransferResult,
  type Tree,
  type TreeOptions,
} from "./transfer.ts";

export const exportObjects = storeCommand({
  name: "export",
  summary: "Writes the objects of a bucket to a folder",
  details:
    "A key becomes the path of a file where that is possible. .ledge-metadata.jsonl holds the\n" +
    "metadata, and the keys of all other files. Files that are the same already are skipped.",
  arguments: [bucketArgument, folderArgument],
  options: { "-p, --prefix PREFIX": "Exports only keys with this prefix" },
  examples: ["ledge store export photos ./backup"],

  async run(invocation, store, word, folder) {
    const from = { bucket: store.bucket(word), prefix: invocation.text("prefix") ?? "" };
    const result = await exportTree(from, folder, { label: "Exporting", base: "" });
    return reportTransfer(invocation, "Exported", result);
  },
});

interface ExportOptions extends TreeOptions {
  /** The beginning of the prefix that paths and the manifest do not have. */
  readonly base: string;
}

export async function exportTree(
  from: Tree,
  folder: string,
  options: ExportOptions,
): Promise<TransferResult> {
  const { label, dryRun } = options;
  const { objects } = await from.bucket.call({ method: "stats" });
  // The number of objects with a prefix is not known before the listing ends.
  const progress = new Progress(label, from.prefix === "" ? objects : null);
  const root = resolve(folder);
  const written = new Set<string>();
  const exportAll = (into: WrittenExport): Promise<TransferResult> =>
    exportInto(into, from, written, progress, options);
  const result = await (dryRun
    ? exportAll({ root, addEntry: () => {}, write: async () => {} })
    : writeExport(root, exportAll));
  return deleteOthers(result, options, () => deleteOtherFiles(root, written, dryRun));
}

/** @param written gets the paths of all objects */
async function exportInto(
  folder: WrittenExport,
  { bucket, prefix }: Tree,
  written: Set<string>,
  progress: Progress,
  { base, dryRun, removals }: ExportOptions,
): Promise<TransferResult> {
  const { root } = folder;
  const paths = new FilePaths();
  /** The etags of objects that were uploaded in parts and have no md5, by path. */
  const etags = new Map<string, string>();
  for await (const entry of readManifest(root)) {
    const { key, path, etag, checksums } = entry;
    if (!key.startsWith(prefix.slice(base.length))) {
      // The entry comes from another export, and still holds.
      paths.take(path);
      folder.addEntry({ ...entry, version: "", uploaded: 0 }, entry);
    } else if (checksums.md5 === undefined) etags.set(path, etag);
  }
  return transferAll(
    exportedFiles(bucket, prefix, (key) => paths.pathOf(key.slice(base.length))),
    {
      nameOf: ({ object }) => object.key,
      async transfer({ object, path }) {
        written.add(path);
        const isUnchanged = await isExported(join(root, path), object, etags.get(path));
        // The object may have been replaced or deleted since it was listed.
        const exported =
          isUnchanged || dryRun
            ? object
            : await fetchObject(bucket, object.key, async (fetched) => {
                await folder.write(path, fetched);
                return fetched.object;
              });
        if (exported === null) return "gone";
        const relative = { ...exported, key: exported.key.slice(base.length) };
        folder.addEntry(relative, { path, partBytes: await partBytesOf(bucket, exported) });
        removals?.push(() => removeMovedObject(bucket, exported));
        return isUnchanged ? "unchanged" : exported.size;
      },
      progress,
      planned: dryRun ? ({ path }) => join(root, path) : undefined,
    },
  );
}

/** Assigns paths in the order of keys, so that each export assigns the same paths. */
async function* exportedFiles(bucket: Bucket, prefix: string, pathOf: (key: string) => string) {
  for await (const { objects } of listPages(bucket, { prefix })) {
    for (const object of objects) yield { object, path: pathOf(object.key) };
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
async function isExported(
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

async function deleteOtherFiles(
  root: string,
  kept: ReadonlySet<string>,
  dryRun = false,
): Promise<string[]> {
  const deleted: string[] = [];
  // A dry run has made no folder.
  if (!existsSync(root)) return deleted;
  for await (const { path, problem } of filesBelow(root)) {
    if (kept.has(path) || path === manifestName || problem !== undefined) continue;
    if (!dryRun) await rm(join(root, path), { force: true });
    deleted.push(join(root, path));
  }
  return deleted;
}
