/**
 * The manifest of an export, `.ledge-metadata.jsonl`: the metadata that files cannot hold. The first
 * line names the format, and each further line is one entry in JSON.
 */
import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync, type WriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { UserError } from "../../../base/user-error.ts";
import { hashAlgorithms, s3ChecksumAlgorithms } from "../../../store/core/checksum.ts";
import { httpMetadataFields } from "../../../store/core/metadata.ts";
import { partNumberMax } from "../../../store/core/limits.ts";
import type { DescribedObject, ObjectRecord } from "../../../store/core/operations.ts";
import { fromHttpJson, toObjectJson, type HttpMetadataJson } from "../object-json.ts";
import { manifestName } from "../../../store/node/file-path.ts";

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
    ...(partBytes !== undefined && { partBytes }),
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
  const { s3Checksums = {}, partBytes } = entry;
  const isComplete =
    typeof key === "string" &&
    typeof path === "string" &&
    typeof size === "number" &&
    typeof etag === "string" &&
    (storageClass === "Standard" || storageClass === "InfrequentAccess") &&
    isTextTable(http, [...httpMetadataFields, "cacheExpiry"]) &&
    isTextTable(custom) &&
    isTextTable(checksums, Object.keys(hashAlgorithms)) &&
    isTextTable(s3Checksums, s3ChecksumAlgorithms) &&
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
    ...(entry["s3Checksums"] !== undefined && { s3Checksums }),
    ...(partBytes !== undefined && { partBytes }),
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
