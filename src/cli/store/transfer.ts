/**
 * `ledge store import` and `ledge store export`: a bucket from a folder, and into a folder with one
 * file for each object and a manifest for what files cannot hold (`exported-folder.ts`).
 *
 * What has the bytes and the metadata already is skipped, in both directions. So a transfer that was
 * stopped continues when it is run again. In an export, a file appears under its name when it is
 * complete, and the manifest when all files are complete. An export removes nothing: files of deleted
 * objects stay.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { mapConcurrent } from "../../base/concurrency.ts";
import { counted, formatBytes } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm } from "../../store/core/checksum.ts";
import { validateKey } from "../../store/core/key.ts";
import { allChecksums } from "../../store/core/object.ts";
import type {
  DescribedObject,
  ObjectDescription,
  ObjectRecord,
  StorageClass,
} from "../../store/core/operations.ts";
import {
  asUserError,
  fetchObject,
  firstPartBytes,
  headObject,
  listPages,
  putFile,
} from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FileContent, largePartBytes } from "../../store/node/file-content.ts";
import { FilePaths, reservedPrefix } from "../../store/node/file-path.ts";
import { exitCode, type Invocation } from "../command.ts";
import { print, printRemark } from "../output.ts";
import {
  exportedForm,
  readManifest,
  writeExport,
  type ExportedForm,
  type ManifestEntry,
  type WrittenExport,
} from "./exported-folder.ts";
import { guessMetadata } from "./objects.ts";
import {
  bucketArgument,
  folderArgument,
  storageClassChoices,
  storageClassOption,
  storeCommand,
} from "./open-store.ts";

export const importObjects = storeCommand({
  name: "import",
  summary: "Puts the files of a folder into a bucket",
  details:
    "The path of a file becomes its key. A folder that export wrote restores the keys and the\n" +
    "metadata of its objects. Objects that are the same already are skipped, so an import that was\n" +
    "stopped can be run again.",
  arguments: [bucketArgument, folderArgument],
  options: {
    "-p, --prefix PREFIX": "A prefix for every key",
    [storageClassOption]:
      "The storage class of files that no manifest describes (default: the bucket's)",
  },
  choices: storageClassChoices,
  examples: ["ledge store import photos ./public --prefix static/"],

  async run(invocation, store, word, folder) {
    const prefix = invocation.text("prefix") ?? "";
    const root = resolve(folder);
    const found = await stat(root).catch(() => null);
    if (found?.isDirectory() !== true) throw new NotFoundError(`There is no folder ${root}.`);
    const bucket = store.bucket(word);
    const storageClass =
      invocation.text<StorageClass>("storage-class") ?? bucket.known.storageClass;
    const progress = new Progress("Importing", null);
    // Only the progress bar needs the number of files. The transfer does not wait for it.
    if (process.stderr.isTTY) void countFiles(root).then((total) => (progress.total = total));
    const entries = new Map<string, ManifestEntry>();
    for await (const entry of readManifest(root)) entries.set(entry.path, entry);
    const result = await transferAll(importedPaths(root, entries), {
      nameOf: (path) => path,
      async transfer(path) {
        const entry = entries.get(path);
        if (entry !== undefined) await checkInside(root, path);
        const object = {
          key: prefix + (entry?.key ?? path),
          http: entry?.http ?? guessMetadata(path),
          custom: entry?.custom ?? {},
          storageClass: entry?.storageClass ?? storageClass,
        };
        return importFile(bucket, object, join(root, path), entry);
      },
      progress,
    });
    return reportTransfer(invocation, "Imported", result);
  },
});

/** A manifest may name a file behind a link, which leads out of the folder. */
async function checkInside(root: string, path: string): Promise<void> {
  const [folder, file] = await Promise.all([
    realpath(root),
    // A missing file has its own message.
    realpath(join(root, path)).catch(() => null),
  ]);
  if (file !== null && !file.startsWith(join(folder, sep))) {
    throw new UserError("The manifest names a link that leads out of the folder.");
  }
}

/** The files of the manifest, which may be missing in the folder, then all other files. */
async function* importedPaths(
  root: string,
  entries: ReadonlyMap<string, ManifestEntry>,
): AsyncGenerator<string> {
  yield* entries.keys();
  for await (const path of filesBelow(root)) {
    if (!entries.has(path) && !path.startsWith(reservedPrefix)) yield path;
  }
}

async function importFile(
  bucket: Bucket,
  object: ObjectDescription & { readonly key: string },
  path: string,
  entry: ManifestEntry | undefined,
): Promise<TransferOutcome> {
  try {
    validateKey(object.key);
  } catch {
    throw new UserError("The key is longer than 1024 bytes.");
  }
  const content = FileContent.of(path);
  const current = await headObject(bucket, object.key);
  const exported = entry === undefined ? null : await exportedForm(entry, content);
  if (current !== null && (await isSame(current, content, object, exported))) return "unchanged";
  await putFile(bucket, object, content, { form: exported?.form });
  return content.size;
}

async function isSame(
  current: DescribedObject,
  content: FileContent,
  { http, custom, storageClass }: ObjectDescription,
  exported: ExportedForm | null,
): Promise<boolean> {
  const { size, etag, checksums } = current;
  const isDescribed =
    size === content.size &&
    current.storageClass === storageClass &&
    isDeepStrictEqual(current.http, http) &&
    isDeepStrictEqual({ ...current.custom }, { ...custom });
  if (!isDescribed) return false;
  if (exported !== null) {
    const found = allChecksums(current);
    const expected = Object.entries(exported.checksums) as [ChecksumAlgorithm, string][];
    return etag === exported.etag && expected.every(([name, hex]) => found[name] === hex);
  }
  return checksums.md5 === undefined
    ? etag === (await content.multipartEtag(largePartBytes))
    : checksums.md5 === (await content.hash("md5"));
}

async function countFiles(root: string): Promise<number> {
  let count = 0;
  for await (const _ of filesBelow(root)) count++;
  return count;
}

/** The paths of all files below a folder, with slashes. Links to folders are not followed. */
async function* filesBelow(root: string, below = ""): AsyncGenerator<string> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(root, path);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) {
      yield path;
    }
  }
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true;
}

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
    const prefix = invocation.text("prefix") ?? "";
    const bucket = store.bucket(word);
    const { objects } = await bucket.call({ method: "stats" });
    // The number of objects with a prefix is not known before the listing ends.
    const progress = new Progress("Exporting", prefix === "" ? objects : null);
    const result = await writeExport(resolve(folder), (written) =>
      exportInto(written, bucket, prefix, progress),
    );
    return reportTransfer(invocation, "Exported", result);
  },
});

async function exportInto(
  folder: WrittenExport,
  bucket: Bucket,
  prefix: string,
  progress: Progress,
): Promise<TransferResult> {
  const { root } = folder;
  const paths = new FilePaths();
  /** The etags of objects that were uploaded in parts and have no md5, by path. */
  const etags = new Map<string, string>();
  for await (const entry of readManifest(root)) {
    const { key, path, etag, checksums } = entry;
    if (!key.startsWith(prefix)) {
      // The entry comes from another export, and still holds.
      paths.take(path);
      folder.addEntry({ ...entry, version: "", uploaded: 0 }, entry);
    } else if (checksums.md5 === undefined) etags.set(path, etag);
  }
  return transferAll(exportedFiles(bucket, prefix, paths), {
    nameOf: ({ object }) => object.key,
    async transfer({ object, path }) {
      const isUnchanged = await isExported(join(root, path), object, etags.get(path));
      // The object may have been replaced or deleted since it was listed.
      const exported = isUnchanged
        ? object
        : await fetchObject(bucket, object.key, async (fetched) => {
            await folder.write(path, fetched);
            return fetched.object;
          });
      if (exported === null) return "gone";
      folder.addEntry(exported, { path, partBytes: await partBytesOf(bucket, exported) });
      return isUnchanged ? "unchanged" : exported.size;
    },
    progress,
  });
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

interface TransferResult {
  transferred: number;
  /** Files or objects that were the same already. */
  unchanged: number;
  bytes: number;
  readonly failures: { readonly name: string; readonly message: string }[];
}

/** The outcome for one object: a number of bytes is a transfer, `"gone"` is not counted. */
type TransferOutcome = number | "unchanged" | "gone";

const concurrencyMax = 64;

/** Transfers every item. The failure of one item does not stop the others. */
async function transferAll<Item>(
  items: AsyncIterable<Item>,
  {
    nameOf,
    transfer,
    progress,
  }: {
    readonly nameOf: (item: Item) => string;
    /** @throws UserError when this item fails; other errors end the whole transfer */
    readonly transfer: (item: Item) => Promise<TransferOutcome>;
    readonly progress: Progress;
  },
): Promise<TransferResult> {
  const result: TransferResult = { transferred: 0, unchanged: 0, bytes: 0, failures: [] };
  await mapConcurrent(items, concurrencyMax, async (item) => {
    try {
      const outcome = await asUserError(transfer(item));
      if (outcome === "gone") return;
      if (outcome === "unchanged") result.unchanged++;
      else {
        result.transferred++;
        result.bytes += outcome;
      }
      progress.add(outcome === "unchanged" ? 0 : outcome);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push({ name: nameOf(item), message: error.message });
    }
  }).finally(() => progress.end());
  return result;
}

function reportTransfer(
  invocation: Invocation,
  verb: "Imported" | "Exported",
  result: TransferResult,
): number {
  const { transferred, unchanged, bytes, failures } = result;
  for (const { name, message } of failures) printRemark(`${name}: ${message}`);
  print(
    invocation,
    result,
    `${verb} ${counted(transferred, "object")}, ${formatBytes(bytes)}.` +
      (unchanged === 0 ? "" : ` ${unchanged} unchanged.`) +
      (failures.length === 0 ? "" : ` ${failures.length} failed.`),
  );
  return failures.length === 0 ? exitCode.done : exitCode.failed;
}
