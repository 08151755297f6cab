/**
 * `ledge store import`: a bucket from a folder. What has the bytes and the metadata already is skipped, so an
 * import that was stopped continues when it is run again.
 */
import { isUtf8 } from "node:buffer";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm } from "../../store/core/checksum.ts";
import { allChecksums } from "../../store/core/object.ts";
import type {
  DescribedObject,
  ObjectDescription,
  StorageClass,
} from "../../store/core/operations.ts";
import { headObject, putFile } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { FileContent, largePartBytes } from "../../store/node/file-content.ts";
import { reservedPrefix } from "../../store/node/file-path.ts";
import {
  exportedForm,
  readManifest,
  type ExportedForm,
  type ManifestEntry,
} from "./exported-folder.ts";
import { guessMetadata } from "./objects.ts";
import {
  bucketArgument,
  folderArgument,
  storageClassChoices,
  storageClassOption,
  storeCommand,
} from "./open-store.ts";
import {
  checkKey,
  deleteOtherKeys,
  deleteOthers,
  removeMovedFile,
  reportTransfer,
  transferAll,
  type TransferOutcome,
  type TransferResult,
  type Tree,
  type TreeOptions,
} from "./transfer.ts";

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
    const storageClass = invocation.text<StorageClass>("storage-class");
    const to = { bucket: store.bucket(word), prefix };
    const result = await importTree(folder, to, {
      label: "Importing",
      storageClass,
      isComplete: true,
    });
    return reportTransfer(invocation, "Imported", result);
  },
});

/** @throws NotFoundError when there is no such folder */
export async function importTree(
  folder: string,
  { bucket, prefix }: Tree,
  options: TreeOptions,
): Promise<TransferResult> {
  const { label, isSync = false, dryRun = false } = options;
  const { storageClass = bucket.known.storageClass } = options;
  const root = resolve(folder);
  const found = await stat(root).catch(() => null);
  if (found?.isDirectory() !== true) throw new NotFoundError(`There is no folder ${root}.`);
  const progress = new Progress(label, null);
  // Only the progress bar needs the number of files. The transfer does not wait for it.
  if (process.stderr.isTTY) void countFiles(root).then((total) => (progress.total = total));
  const entries = new Map<string, ManifestEntry>();
  for await (const entry of readManifest(root)) entries.set(entry.path, entry);
  const keys = new Set<string>();
  const result = await transferAll(importedFiles(root, entries, options.isComplete), {
    nameOf: ({ path }) => path,
    async transfer({ path, problem }) {
      if (problem !== undefined) throw new UserError(problem);
      const entry = entries.get(path);
      if (entry !== undefined) await checkInside(root, path);
      const key = prefix + (entry?.key ?? path);
      keys.add(key);
      const object = {
        key,
        http: entry?.http ?? guessMetadata(path),
        custom: entry?.custom ?? {},
        storageClass: entry?.storageClass ?? storageClass,
      };
      const file = join(root, path);
      const { modified } = FileContent.of(file);
      const outcome = await importFile(bucket, object, file, { entry, isSync, dryRun });
      options.removals?.push(() => removeMovedFile(file, modified));
      return outcome;
    },
    progress,
    planned: dryRun
      ? ({ path }) => `${bucket.name}/${prefix}${entries.get(path)?.key ?? path}`
      : undefined,
  });
  return deleteOthers(result, options, async () =>
    deleteOtherKeys({ bucket, prefix }, keys, dryRun),
  );
}

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

/**
 * The files of the manifest, then all other files.
 *
 * @param isComplete whether a file of the manifest that is missing is a failure. If not, the user has
 *   deleted or moved the file
 */
async function* importedFiles(
  root: string,
  entries: ReadonlyMap<string, ManifestEntry>,
  isComplete = false,
): AsyncGenerator<FoundFile> {
  for (const path of entries.keys()) {
    if (isComplete || (await isFile(join(root, path)))) yield { path };
  }
  for await (const file of filesBelow(root)) {
    if (!entries.has(file.path) && !file.path.startsWith(reservedPrefix)) yield file;
  }
}

async function importFile(
  bucket: Bucket,
  object: ObjectDescription & { readonly key: string },
  path: string,
  options: { readonly entry?: ManifestEntry; readonly isSync: boolean; readonly dryRun: boolean },
): Promise<TransferOutcome> {
  const { entry, isSync, dryRun } = options;
  checkKey(object.key);
  const content = FileContent.of(path);
  const current = await headObject(bucket, object.key);
  const exported = entry === undefined ? null : await exportedForm(entry, content);
  // Without a manifest, the folder says nothing about the metadata of an object that is there.
  const expected = isSync && entry === undefined && current !== null ? current : object;
  if (current !== null && (await isSame(current, content, expected, exported))) return "unchanged";
  if (!dryRun) await putFile(bucket, object, content, { form: exported?.form });
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

interface FoundFile {
  /** With slashes. */
  readonly path: string;
  /** Why the file, or what is in the folder, cannot be read. */
  readonly problem?: string;
}

/** All files below a folder. Links to folders are not followed. */
export async function* filesBelow(root: string, below = ""): AsyncGenerator<FoundFile> {
  const options = { withFileTypes: true, encoding: "buffer" } as const;
  const found = await readdir(join(root, below), options).catch((error: Error) => {
    if (below === "") throw error;
    return error;
  });
  if (found instanceof Error) {
    yield { path: below, problem: `Cannot read the folder: ${found.message}.` };
    return;
  }
  for (const entry of found.sort((a, b) => Buffer.compare(a.name, b.name))) {
    // A path that is not UTF-8 cannot be a key, and Node could not open the file by such a text.
    const isText = isUtf8(entry.name);
    const name = isText ? entry.name.toString() : escapeBytes(entry.name);
    const path = below === "" ? name : `${below}/${name}`;
    if (!isText) yield { path, problem: "The name is not UTF-8, as a key must be: rename it." };
    else if (entry.isDirectory()) yield* filesBelow(root, path);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) {
      yield { path };
    }
  }
}

/** A name that is not UTF-8, as shells write it: `caf\\xe9`. */
function escapeBytes(name: Buffer): string {
  return name.toString("latin1").replace(/[^ -~]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true;
}
