/**
 * A bucket into a folder: a file for each object, and the manifest that holds what files cannot.
 *
 * A file gets its name when it is whole, and the manifest when all files are there. Files that are
 * there already, by size and md5, are not fetched again, so an export that was stopped goes on
 * where it was. Files of objects that are gone stay: an export removes nothing.
 */
import { createWriteStream, type WriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import type { ObjectRecord } from "../../store/core/operations.ts";
import type { EndpointBucket } from "../../store/node/endpoint-bucket.ts";
import { FilePaths, manifestName } from "./file-path.ts";
import { ExportFolder } from "./folder.ts";
import type { Transferred } from "./import-folder.ts";
import { mapConcurrent } from "../../base/concurrency.ts";
import { FileContent } from "../../store/node/file-content.ts";
import { encodeEntry, manifestHead, type ManifestEntry } from "./manifest.ts";
import { readManifest } from "./manifest-file.ts";

const lanes = 64;

export interface ExportOptions {
  /** Only keys that begin so. */
  readonly prefix: string;
  readonly onFile: (bytes: number) => void;
}

export async function exportFolder(
  bucket: EndpointBucket,
  root: string,
  { prefix, onFile }: ExportOptions,
): Promise<Transferred> {
  const folder = new ExportFolder(root);
  await folder.prepare();
  const manifest = new ManifestWriter(folder.partialPath());
  const paths = new FilePaths();
  const exporter = new Exporter(bucket, folder);
  // What an export of other keys has written down still holds.
  for await (const entry of readManifest(root)) {
    if (entry.key.startsWith(prefix)) exporter.remember(entry);
    else {
      paths.take(entry.path);
      await manifest.add(asRecord(entry), entry.path);
    }
  }
  const result: Transferred = { transferred: 0, unchanged: 0, bytes: 0, failures: [] };
  await mapConcurrent(listed(bucket, prefix, paths), lanes, async ({ object, path }) => {
    try {
      const { exported, bytes } = await exporter.export(object, path);
      if (exported === null) return;
      await manifest.add(exported, path);
      if (bytes === null) result.unchanged++;
      else {
        result.transferred++;
        result.bytes += bytes;
      }
      onFile(bytes ?? 0);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push({ name: object.key, message: error.message });
    }
  });
  await manifest.end(join(root, manifestName));
  await folder.finish();
  return result;
}

interface ListedFile {
  readonly object: Required<ObjectRecord>;
  readonly path: string;
}

/** Paths are given in the order of keys, so they are the same each time. */
async function* listed(
  bucket: EndpointBucket,
  prefix: string,
  paths: FilePaths,
): AsyncGenerator<ListedFile> {
  for await (const { objects } of bucket.list({ prefix })) {
    for (const object of objects) yield { object, path: paths.pathOf(object.key) };
  }
}

class Exporter {
  readonly #bucket: EndpointBucket;
  readonly #folder: ExportFolder;
  /** Etags of files whose objects were uploaded in parts: those have no md5. */
  readonly #etags = new Map<string, string>();

  constructor(bucket: EndpointBucket, folder: ExportFolder) {
    this.#bucket = bucket;
    this.#folder = folder;
  }

  remember({ path, etag, checksums }: ManifestEntry): void {
    if (checksums.md5 === undefined) this.#etags.set(path, etag);
  }

  /** `exported` is the object whose content the file has; `null` when it is gone by now. */
  async export(
    object: Required<ObjectRecord>,
    path: string,
  ): Promise<{ exported: Required<ObjectRecord> | null; bytes: number | null }> {
    if (await this.#isThere(object, path)) return { exported: object, bytes: null };
    const exported = await this.#bucket.get(object.key, object.size, async (fetched) => {
      await this.#folder.write(path, fetched);
      return fetched.object;
    });
    return { exported, bytes: exported?.size ?? null };
  }

  async #isThere({ size, etag, checksums }: ObjectRecord, path: string): Promise<boolean> {
    let content: FileContent;
    try {
      content = FileContent.of(join(this.#folder.root, path));
    } catch {
      return false;
    }
    if (content.size !== size) return false;
    return checksums.md5 === undefined
      ? this.#etags.get(path) === etag
      : (await content.hash("md5")) === checksums.md5;
  }
}

class ManifestWriter {
  readonly #path: string;
  readonly #stream: WriteStream;

  constructor(path: string) {
    this.#path = path;
    this.#stream = createWriteStream(path);
    this.#stream.write(`${manifestHead}\n`);
  }

  async add(record: ObjectRecord, path: string): Promise<void> {
    if (!this.#stream.write(`${encodeEntry(record, path)}\n`)) await once(this.#stream, "drain");
  }

  async end(path: string): Promise<void> {
    this.#stream.end();
    await once(this.#stream, "finish");
    await rename(this.#path, path);
  }
}

/** Only what the manifest keeps of it matters. */
function asRecord(entry: ManifestEntry): ObjectRecord {
  return { ...entry, version: "", uploaded: 0 };
}
