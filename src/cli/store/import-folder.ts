/**
 * A folder into a bucket.
 *
 * What is there already, bytes and metadata, is left as it is: an import that was stopped goes on
 * where it was when it is run again, and one that is run twice writes nothing the second time.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm, ExpectedChecksum } from "../../store/core/checksum.ts";
import { validateKey } from "../../store/core/key.ts";
import type { ObjectDescription, ObjectRecord, StorageClass } from "../../store/core/operations.ts";
import { partBytes, type EndpointBucket } from "../../store/node/endpoint-bucket.ts";
import { guessedMetadata } from "./content-type.ts";
import { filesBelow } from "./folder.ts";
import { mapConcurrent } from "../../base/concurrency.ts";
import { FileContent } from "../../store/node/file-content.ts";
import type { ManifestEntry } from "./manifest.ts";
import { readManifest } from "./manifest-file.ts";

/** Files that are under way at once. */
const lanes = 64;

export interface ImportOptions {
  /** Stands before every key. */
  readonly prefix: string;
  /** Of files that the manifest does not know. */
  readonly storageClass: StorageClass;
  readonly onFile: (bytes: number) => void;
}

export interface Transferred {
  transferred: number;
  /** Were there already. */
  unchanged: number;
  /** Of what was transferred. */
  bytes: number;
  readonly failures: { readonly name: string; readonly message: string }[];
}

export async function importFolder(
  bucket: EndpointBucket,
  root: string,
  options: ImportOptions,
): Promise<Transferred> {
  const entries = new Map<string, ManifestEntry>();
  for await (const entry of readManifest(root)) entries.set(entry.path, entry);
  const result: Transferred = { transferred: 0, unchanged: 0, bytes: 0, failures: [] };
  const importer = new Importer(bucket, root, options);
  await mapConcurrent(importable(root, entries), lanes, async (path) => {
    const entry = entries.get(path);
    try {
      const bytes = await importer.import(path, entry);
      if (bytes === null) result.unchanged++;
      else {
        result.transferred++;
        result.bytes += bytes;
      }
      options.onFile(bytes ?? 0);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push({ name: path, message: error.message });
    }
  });
  return result;
}

/** Those of the manifest first, for one may be missing; then whatever else there is. */
async function* importable(
  root: string,
  entries: ReadonlyMap<string, ManifestEntry>,
): AsyncGenerator<string> {
  yield* entries.keys();
  for await (const path of filesBelow(root)) {
    if (!entries.has(path) && !path.startsWith(".ledge-")) yield path;
  }
}

class Importer {
  readonly #bucket: EndpointBucket;
  readonly #root: string;
  readonly #options: ImportOptions;

  constructor(bucket: EndpointBucket, root: string, options: ImportOptions) {
    this.#bucket = bucket;
    this.#root = root;
    this.#options = options;
  }

  /** Returns how much was sent, or `null` when the object was there. */
  async import(path: string, entry: ManifestEntry | undefined): Promise<number | null> {
    const key = this.#options.prefix + (entry?.key ?? path);
    checkKey(key);
    const content = FileContent.of(join(this.#root, path));
    const description: ObjectDescription =
      entry === undefined
        ? { http: guessedMetadata(path), custom: {}, storageClass: this.#options.storageClass }
        : { http: entry.http, custom: entry.custom, storageClass: entry.storageClass };
    const current = await this.#bucket.head(key);
    const checksum = await expectedChecksum(content, entry);
    if (current !== null && (await isSame(current, content, description, checksum))) return null;
    await this.#bucket.put(
      { key, ...description, ...(checksum !== undefined && { checksum }) },
      content,
    );
    return content.size;
  }
}

/** The hash that the object had, other than md5; none if the file was changed since. */
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
