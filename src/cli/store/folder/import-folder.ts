/**
 * Import: a folder into a bucket.
 *
 * An object that has the bytes and the metadata of its file already is skipped. So an import that
 * was stopped continues when it is run again, and a second run of a complete import writes nothing.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { NotFoundError, UserError } from "../../../base/user-error.ts";
import type { ChecksumAlgorithm, ExpectedChecksum } from "../../../store/core/checksum.ts";
import { validateKey } from "../../../store/core/key.ts";
import type {
  ObjectDescription,
  ObjectRecord,
  StorageClass,
} from "../../../store/core/operations.ts";
import { partBytes, type EndpointBucket } from "../../../store/node/endpoint-bucket.ts";
import { FileContent } from "../../../store/node/file-content.ts";
import { guessMetadata } from "../object-file.ts";
import { reservedPrefix } from "./file-path.ts";
import { readManifest, type ManifestEntry } from "./manifest.ts";
import { transferAll, type TransferOutcome, type TransferResult } from "./transfer.ts";

export interface ImportOptions {
  /** A prefix for every key. */
  readonly prefix: string;
  /** The storage class of files that the manifest does not describe. */
  readonly storageClass: StorageClass;
  readonly onFile: (bytes: number) => void;
}

export async function importFolder(
  bucket: EndpointBucket,
  root: string,
  options: ImportOptions,
): Promise<TransferResult> {
  const entries = new Map<string, ManifestEntry>();
  for await (const entry of readManifest(root)) entries.set(entry.path, entry);
  return transferAll(importedPaths(root, entries), {
    nameOf: (path) => path,
    transfer: (path) => importFile({ bucket, root, path, entry: entries.get(path), options }),
    onFile: options.onFile,
  });
}

/** @throws NotFoundError when the folder does not exist */
export async function checkFolder(root: string): Promise<void> {
  const found = await stat(root).catch(() => null);
  if (found?.isDirectory() !== true) throw new NotFoundError(`There is no folder ${root}.`);
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

async function importFile({
  bucket,
  root,
  path,
  entry,
  options,
}: {
  readonly bucket: EndpointBucket;
  readonly root: string;
  readonly path: string;
  readonly entry: ManifestEntry | undefined;
  readonly options: ImportOptions;
}): Promise<TransferOutcome> {
  const key = options.prefix + (entry?.key ?? path);
  checkKey(key);
  const content = FileContent.of(join(root, path));
  const description: ObjectDescription =
    entry === undefined
      ? { http: guessMetadata(path), custom: {}, storageClass: options.storageClass }
      : { http: entry.http, custom: entry.custom, storageClass: entry.storageClass };
  const current = await bucket.head(key);
  const checksum = await expectedChecksum(content, entry);
  if (current !== null && (await isSame(current, content, description, checksum))) {
    return "unchanged";
  }
  await bucket.put({ key, ...description, ...(checksum !== undefined && { checksum }) }, content);
  return content.size;
}

/** The checksum of the exported object other than md5; none if the file has changed since. */
async function expectedChecksum(
  content: FileContent,
  entry: ManifestEntry | undefined,
): Promise<ExpectedChecksum | undefined> {
  const found = Object.entries(entry?.checksums ?? {}).find(([name]) => name !== "md5");
  if (found === undefined) return undefined;
  const [algorithm, hex] = found as [ChecksumAlgorithm, string];
  return (await content.hash(algorithm)) === hex ? { algorithm, hex } : undefined;
}

async function isSame(
  current: Required<ObjectRecord>,
  content: FileContent,
  { http, custom, storageClass }: ObjectDescription,
  checksum: ExpectedChecksum | undefined,
): Promise<boolean> {
  const { md5 } = current.checksums;
  return (
    current.size === content.size &&
    current.storageClass === storageClass &&
    isDeepStrictEqual(current.http, http) &&
    isDeepStrictEqual({ ...current.custom }, { ...custom }) &&
    (checksum === undefined || current.checksums[checksum.algorithm] === checksum.hex) &&
    (md5 === undefined
      ? current.etag === (await content.multipartEtag(partBytes))
      : md5 === (await content.hash("md5")))
  );
}

function checkKey(key: string): void {
  try {
    validateKey(key);
  } catch {
    throw new UserError("The key is longer than 1024 bytes.");
  }
}

export async function countFiles(root: string): Promise<number> {
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
