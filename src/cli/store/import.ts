/**
 * `ledge store import`: a folder into a bucket.
 *
 * An object that has the bytes and the metadata of its file already is skipped. So an import that
 * was stopped continues when it is run again, and a second run of a complete import writes nothing.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm, Checksums } from "../../store/core/checksum.ts";
import { validateKey } from "../../store/core/key.ts";
import type { DescribedObject, ObjectDescription } from "../../store/core/operations.ts";
import { allChecksums } from "../../store/core/s3-checksums.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { headObject, putFile } from "../../store/node/bucket-objects.ts";
import { FileContent, largePartBytes } from "../../store/node/file-content.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import { reservedPrefix } from "../../store/node/file-path.ts";
import { exportedForm, type ExportedForm } from "./folder/exported-form.ts";
import { readManifest, type ManifestEntry } from "./folder/manifest.ts";
import { reportTransfer, transferAll, type TransferOutcome } from "./folder/transfer.ts";
import { guessMetadata } from "./object-file.ts";
import { withStore } from "./open-store.ts";
import {
  bucketArgument,
  folderArgument,
  readStorageClass,
  storageClassOption,
} from "./parameters.ts";

export const importObjects: LeafCommand = {
  name: "import",
  summary: "Puts the files of a folder into a bucket",
  details:
    "The path of a file becomes its key. A folder that export wrote restores the keys and the\n" +
    "metadata of its objects. Objects that are the same already are skipped, so an import that was\n" +
    "stopped can be run again.",
  arguments: [bucketArgument, folderArgument],
  options: {
    prefix: { summary: "A prefix for every key", value: "PREFIX" },
    "storage-class": {
      ...storageClassOption,
      summary: "The storage class of files that no manifest describes",
    },
    ...projectOptions,
  },
  examples: ["ledge store import photos ./public --prefix static/"],

  async run(invocation) {
    const [word, folder] = invocation.arguments as [string, string];
    const prefix = textOption(invocation, "prefix") ?? "";
    const root = resolve(folder);
    const found = await stat(root).catch(() => null);
    if (found?.isDirectory() !== true) throw new NotFoundError(`There is no folder ${root}.`);
    const givenClass = readStorageClass(invocation);
    return withStore(invocation, async (store) => {
      const bucket = store.bucket(word);
      const storageClass = givenClass ?? bucket.known.storageClass;
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
      }).finally(() => progress.end());
      return reportTransfer(invocation, "Imported", result);
    });
  },
};

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
  checkKey(object.key);
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
  return (
    current.size === content.size &&
    current.storageClass === storageClass &&
    isDeepStrictEqual(current.http, http) &&
    isDeepStrictEqual({ ...current.custom }, { ...custom }) &&
    (exported === null
      ? hasContent(current, content)
      : current.etag === exported.etag && hasChecksums(current, exported.checksums))
  );
}

async function hasContent(
  { etag, checksums: { md5 } }: DescribedObject,
  content: FileContent,
): Promise<boolean> {
  return md5 === undefined
    ? etag === (await content.multipartEtag(largePartBytes))
    : md5 === (await content.hash("md5"));
}

function hasChecksums(current: DescribedObject, expected: Checksums): boolean {
  const found = allChecksums(current);
  return Object.entries(expected).every(
    ([algorithm, hex]) => found[algorithm as ChecksumAlgorithm] === hex,
  );
}

function checkKey(key: string): void {
  try {
    validateKey(key);
  } catch {
    throw new UserError("The key is longer than 1024 bytes.");
  }
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
