/**
 * Export: a bucket into a folder, with one file for each object and a manifest for what files
 * cannot hold.
 *
 * A file appears under its name when it is complete, and the manifest when all files are complete.
 * A file that has the size and the md5 of its object already is skipped, so an export that was
 * stopped continues when it is run again. An export removes nothing: files of deleted objects stay.
 */
import { join } from "node:path";
import type { ObjectRecord } from "../../../store/core/operations.ts";
import type { EndpointBucket } from "../../../store/node/endpoint-bucket.ts";
import { FileContent } from "../../../store/node/file-content.ts";
import { FilePaths, manifestName } from "./file-path.ts";
import { FolderWriter } from "./folder-writer.ts";
import { ManifestWriter, readManifest, type ManifestEntry } from "./manifest.ts";
import { transferAll, type TransferResult } from "./transfer.ts";

export interface ExportOptions {
  /** Only keys with this prefix are exported. */
  readonly prefix: string;
  readonly onFile: (bytes: number) => void;
}

export async function exportFolder(
  bucket: EndpointBucket,
  root: string,
  { prefix, onFile }: ExportOptions,
): Promise<TransferResult> {
  const folder = new FolderWriter(root);
  await folder.prepare();
  const manifest = new ManifestWriter(folder.partialPath());
  const paths = new FilePaths();
  const exporter = new Exporter(bucket, folder);
  // Entries of keys without the prefix come from another export, and still hold.
  for await (const entry of readManifest(root)) {
    if (entry.key.startsWith(prefix)) exporter.remember(entry);
    else {
      paths.take(entry.path);
      await manifest.add(asRecord(entry), entry.path);
    }
  }
  const result = await transferAll(exportedFiles(bucket, prefix, paths), {
    nameOf: ({ object }) => object.key,
    async transfer({ object, path }) {
      const isUnchanged = await exporter.isUnchanged(object, path);
      const exported = isUnchanged ? object : await exporter.export(object, path);
      if (exported === null) return "gone";
      await manifest.add(exported, path);
      return isUnchanged ? "unchanged" : exported.size;
    },
    onFile,
  });
  await manifest.end(join(root, manifestName));
  await folder.finish();
  return result;
}

interface ExportedFile {
  readonly object: Required<ObjectRecord>;
  readonly path: string;
}

/** Assigns paths in the order of keys, so that each export assigns the same paths. */
async function* exportedFiles(
  bucket: EndpointBucket,
  prefix: string,
  paths: FilePaths,
): AsyncGenerator<ExportedFile> {
  for await (const { objects } of bucket.list({ prefix })) {
    for (const object of objects) yield { object, path: paths.pathOf(object.key) };
  }
}

class Exporter {
  readonly #bucket: EndpointBucket;
  readonly #folder: FolderWriter;
  /** The etags of objects that were uploaded in parts and have no md5, by path. */
  readonly #etags = new Map<string, string>();

  constructor(bucket: EndpointBucket, folder: FolderWriter) {
    this.#bucket = bucket;
    this.#folder = folder;
  }

  remember({ path, etag, checksums }: ManifestEntry): void {
    if (checksums.md5 === undefined) this.#etags.set(path, etag);
  }

  /** Returns the object whose content the file has; `null` if the object was deleted meanwhile. */
  export({ key, size }: ObjectRecord, path: string): Promise<Required<ObjectRecord> | null> {
    return this.#bucket.get(key, size, async (fetched) => {
      await this.#folder.write(path, fetched);
      return fetched.object;
    });
  }

  async isUnchanged({ size, etag, checksums }: ObjectRecord, path: string): Promise<boolean> {
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

/** The manifest keeps neither the version nor the time of the upload. */
function asRecord(entry: ManifestEntry): ObjectRecord {
  return { ...entry, version: "", uploaded: 0 };
}
