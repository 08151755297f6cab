/**
 * The folder of an export: the files, each of which is written completely or not at all, and the
 * manifest `.ledge-metadata.jsonl` with what files cannot hold. The first line of the manifest names
 * the format, and each further line is one entry in JSON.
 *
 * An entry also says how the object was stored, as far as its bytes do not say so: its checksums
 * beside MD5, and its parts. A checksum of an upload in parts, and its etag, depend on the size of
 * the parts.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  type WriteStream,
} from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { UserError } from "../../base/user-error.ts";
import {
  hashAlgorithms,
  isComposite,
  s3ChecksumAlgorithms,
  type ChecksumAlgorithm,
  type Checksums,
  type S3ChecksumAlgorithm,
} from "../../store/core/checksum.ts";
import { partNumberMax } from "../../store/core/limits.ts";
import { httpMetadataFields } from "../../store/core/metadata.ts";
import type { DescribedObject, ObjectRecord } from "../../store/core/operations.ts";
import type { FetchedObject, StoredForm } from "../../store/node/bucket-objects.ts";
import type { FileContent } from "../../store/node/file-content.ts";
import { manifestName, partialFolder } from "../../store/node/file-path.ts";
import { withTemporaryPath } from "../run.ts";
import { fromHttpJson, toObjectJson, writeContent, type HttpMetadataJson } from "./objects.ts";

/** The description of one object. The manifest keeps neither the version nor the time of the upload. */
export interface ManifestEntry
  extends Omit<DescribedObject, "version" | "uploaded" | "ssecKeyMd5">, ObjectPlace {}

interface ObjectPlace {
  /** The file, relative to the folder of the manifest, with slashes. */
  readonly path: string;
  /** Of an object that was uploaded in parts: the size of each part but the last. */
  readonly partBytes?: number;
}

export const manifestHeader = JSON.stringify({ format: "ledge store export", version: 1 });

/** Yields the entries of a folder's manifest; nothing when there is no manifest. */
export async function* readManifest(folder: string): AsyncGenerator<ManifestEntry> {
  const path = join(folder, manifestName);
  if (!existsSync(path)) return;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  let number = 0;
  for await (const line of lines) {
    number++;
    if (number === 1) checkHeader(line);
    else if (line !== "") yield decodeEntry(line, number);
  }
}

/** Writes a manifest to a partial file, which `end()` moves to its place. */
export class ManifestWriter {
  readonly #partialPath: string;
  readonly #stream: WriteStream;
  /** Rejects when the file cannot be written. */
  readonly #finished: Promise<void>;
  /** Pending while the stream is full: all writers wait for the same event. */
  #drained: Promise<unknown> | undefined;

  constructor(partialPath: string) {
    this.#partialPath = partialPath;
    this.#stream = createWriteStream(partialPath);
    this.#finished = finished(this.#stream);
    // The next call reports the failure.
    this.#finished.catch(() => {});
    this.#stream.write(`${manifestHeader}\n`);
  }

  async add(record: ObjectRecord, place: ObjectPlace): Promise<void> {
    if (this.#stream.write(`${encodeEntry(record, place)}\n`)) return;
    this.#drained ??= Promise.race([once(this.#stream, "drain"), this.#finished]).finally(
      () => (this.#drained = undefined),
    );
    await this.#drained;
  }

  async end(path: string): Promise<void> {
    this.#stream.end();
    await this.#finished;
    await rename(this.#partialPath, path);
  }
}

export function encodeEntry(record: ObjectRecord, { path, partBytes }: ObjectPlace): string {
  const { key, uploaded: _, version: __, ...rest } = toObjectJson(record);
  return JSON.stringify({
    key,
    ...(path !== key && { path }),
    ...rest,
    partBytes,
  });
}

/** @throws UserError for another format or version */
export function checkHeader(line: string): void {
  const header = parseLine(line, 1) as { format?: unknown; version?: unknown };
  if (header.format !== "ledge store export" || header.version !== 1) {
    throw manifestError(1, "names a format that this version of Ledge does not know");
  }
}

/** @throws UserError for a line that is not an entry */
export function decodeEntry(line: string, number: number): ManifestEntry {
  const entry = parseLine(line, number);
  const { key, size, etag, path = key, storageClass } = entry;
  const { httpMetadata: http = {}, customMetadata: custom = {}, checksums = {} } = entry;
  const { s3Checksums, partBytes } = entry;
  const isComplete =
    typeof key === "string" &&
    typeof path === "string" &&
    typeof size === "number" &&
    typeof etag === "string" &&
    (storageClass === "Standard" || storageClass === "InfrequentAccess") &&
    isTextTable(http, [...httpMetadataFields, "cacheExpiry"]) &&
    isTextTable(custom) &&
    isTextTable(checksums, Object.keys(hashAlgorithms)) &&
    (s3Checksums === undefined || isTextTable(s3Checksums, s3ChecksumAlgorithms)) &&
    (partBytes === undefined || isPartBytes(partBytes, size)) &&
    !Number.isNaN(Date.parse((http as HttpMetadataJson).cacheExpiry ?? "1970-01-01"));
  if (!isComplete) throw manifestError(number, "is not a complete entry");
  // An import must not read files outside the folder, whatever the manifest says.
  if (isAbsolute(path) || path.split(/[\\/]/).includes("..")) {
    throw manifestError(number, `names a file outside the folder, ${JSON.stringify(path)}`);
  }
  return {
    key,
    path,
    size,
    etag,
    http: fromHttpJson(http),
    custom,
    checksums,
    storageClass,
    s3Checksums,
    partBytes,
  };
}

/** An upload has no more parts than there are numbers for them. */
function isPartBytes(value: unknown, size: number): value is number {
  return (
    Number.isSafeInteger(value) &&
    (value as number) > 0 &&
    size / (value as number) <= partNumberMax
  );
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error below reports it.
  }
  throw manifestError(number, "is not a JSON object");
}

function manifestError(line: number, problem: string): UserError {
  return new UserError(
    `Line ${line} of the manifest ${problem}. Export again, or remove the manifest to import ` +
      "the files without their metadata.",
  );
}

function isTextTable(value: unknown, keys?: readonly string[]): value is Record<string, string> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(
      ([key, item]) => typeof item === "string" && (keys === undefined || keys.includes(key)),
    )
  );
}

export interface ExportedForm {
  readonly etag: string;
  readonly checksums: Checksums;
  readonly form: StoredForm;
}

type ExportedEntry = Pick<ManifestEntry, "etag" | "checksums" | "s3Checksums" | "partBytes">;

/**
 * @returns `null` for an object whose form follows from its bytes, and for a file that has changed since
 *   the export: nothing that the manifest says about its bytes holds any more
 */
export async function exportedForm(
  { etag, checksums, s3Checksums = {}, partBytes }: ExportedEntry,
  content: Pick<FileContent, "checksums" | "multipartEtag">,
): Promise<ExportedForm | null> {
  if (partBytes !== undefined) {
    if ((await content.multipartEtag(partBytes)) !== etag) return null;
    const algorithms = namesOf(s3Checksums);
    const form = { algorithms, upload: uploadOf(s3Checksums, partBytes) };
    return { etag, checksums: s3Checksums, form };
  }
  const expected = { ...checksums, ...s3Checksums };
  const algorithms = namesOf(expected).filter((algorithm) => algorithm !== "md5");
  if (algorithms.length === 0 || checksums.md5 === undefined) return null;
  const found = await content.checksums(["md5", ...algorithms]);
  return namesOf(expected).every((algorithm) => found[algorithm] === expected[algorithm])
    ? { etag, checksums: expected, form: { algorithms } }
    : null;
}

/** The first checksum is that of the upload, and the last is verified when the upload is completed. */
function uploadOf(checksums: Checksums, partBytes: number): NonNullable<StoredForm["upload"]> {
  const entries = Object.entries(checksums) as [S3ChecksumAlgorithm, string][];
  const [first, last] = [entries.at(0), entries.at(-1)];
  if (first === undefined || last === undefined) return { partBytes };
  return {
    partBytes,
    checksumAlgorithm: first[0],
    checksumType: isComposite(first[1]) ? "composite" : "full object",
    checksum: { algorithm: last[0], hex: last[1] },
  };
}

function namesOf(checksums: Checksums): ChecksumAlgorithm[] {
  return Object.keys(checksums) as ChecksumAlgorithm[];
}

export class FolderWriter {
  readonly root: string;
  readonly #madeFolders = new Set<string>();

  constructor(root: string) {
    this.root = root;
  }

  /** Runs `work` with a folder for partial files, which the end of the work or a signal removes. */
  async withPartialFolder<Result>(work: () => Promise<Result>): Promise<Result> {
    const folder = join(this.root, partialFolder);
    await mkdir(this.root, { recursive: true });
    return withTemporaryPath(folder, async () => {
      // An export that was killed leaves partial files.
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
      return work();
    });
  }

  /** A new path for a file that is not complete. */
  partialPath(): string {
    return join(this.root, partialFolder, randomBytes(8).toString("hex"));
  }

  /**
   * @throws UserError when the content does not match the object's md5, or when a file, a folder or
   *   a link stands in the place of the file or of a folder above it
   */
  async write(path: string, fetched: FetchedObject): Promise<void> {
    const partial = this.partialPath();
    try {
      await writeContent(partial, fetched);
      this.#makeFolders(dirname(path));
      renameSync(partial, join(this.root, path));
    } catch (error) {
      await rm(partial, { force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EISDIR" || code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR") {
        throw new UserError(`Cannot write ${join(this.root, path)}: ${(error as Error).message}.`);
      }
      throw error;
    }
  }

  /** Makes folders below the root, from the top down. Follows no link out of the root. */
  #makeFolders(path: string): void {
    if (path === "." || this.#madeFolders.has(path)) return;
    this.#makeFolders(dirname(path));
    const absolute = join(this.root, path);
    try {
      mkdirSync(absolute);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (!lstatSync(absolute).isDirectory()) {
        throw new UserError(`Cannot write below ${absolute}: it is not a folder.`);
      }
    }
    this.#madeFolders.add(path);
  }
}
