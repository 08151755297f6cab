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
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { isIntegerBetween } from "../../base/schema.ts";
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
import { fromHttpJson, toObjectJson, type HttpMetadataJson } from "./listing.ts";
import { writeContent } from "./objects.ts";

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

export function encodeEntry(record: ObjectRecord, { path, partBytes }: ObjectPlace): string {
  const { key, uploaded: _, version: __, ...rest } = toObjectJson(record);
  return JSON.stringify({ key, ...(path !== key && { path }), ...rest, partBytes });
}

export function checkHeader(line: string): void {
  const header = parseLine(line, 1) as { format?: unknown; version?: unknown };
  if (header.format !== "ledge store export" || header.version !== 1) {
    throw manifestError(1, "names a format that this version of Ledge does not know");
  }
}

export function decodeEntry(line: string, number: number): ManifestEntry {
  const entry = parseLine(line, number);
  const { key, size, etag, path = key, storageClass } = entry;
  const { httpMetadata: http = {}, customMetadata: custom = {}, checksums = {} } = entry;
  const { s3Checksums, partBytes } = entry;
  // An upload has no more parts than there are numbers for them.
  const partBytesMin = typeof size === "number" ? Math.max(1, size / partNumberMax) : 1;
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
    (partBytes === undefined ||
      isIntegerBetween(partBytes, partBytesMin, Number.MAX_SAFE_INTEGER)) &&
    !Number.isNaN(Date.parse((http as HttpMetadataJson).cacheExpiry ?? "1970-01-01"));
  if (!isComplete) throw manifestError(number, "is not a complete entry");
  // An import must not read files outside the folder, whatever the manifest says.
  if (isAbsolute(path) || path.split(/[\\/]/).includes("..")) {
    throw manifestError(number, `names a file outside the folder, ${JSON.stringify(path)}`);
  }
  const described = { key, path, size, etag, custom, checksums, storageClass } as const;
  return { ...described, http: fromHttpJson(http), s3Checksums, partBytes };
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

export interface WrittenExport {
  readonly root: string;
  readonly addEntry: (record: ObjectRecord, place: ObjectPlace) => void;
  /**
   * @throws UserError when the content does not match the object's md5, or when a file, a folder or
   *   a link stands in the place of the file or of a folder above it
   */
  write(path: string, fetched: FetchedObject): Promise<void>;
}

/** Partial files are in a folder that the end of the work or a signal removes. */
export async function writeExport<Result>(
  root: string,
  work: (folder: WrittenExport) => Promise<Result>,
): Promise<Result> {
  const partials = join(root, partialFolder);
  await mkdir(root, { recursive: true });
  return withTemporaryPath(partials, async () => {
    // An export that was killed leaves partial files.
    await rm(partials, { recursive: true, force: true });
    await mkdir(partials);
    const manifestPath = join(partials, "manifest");
    writeFileSync(manifestPath, `${manifestHeader}\n`);
    const manifest = openSync(manifestPath, "a");
    const madeFolders = new Set(["."]);
    const result = await work({
      root,
      addEntry: (record, place) => appendFileSync(manifest, `${encodeEntry(record, place)}\n`),
      async write(path, fetched) {
        const partial = join(partials, randomBytes(8).toString("hex"));
        try {
          await writeContent(partial, fetched);
          makeFolders(root, dirname(path), madeFolders);
          renameSync(partial, join(root, path));
        } catch (error) {
          await rm(partial, { force: true });
          const { code = "", message } = error as NodeJS.ErrnoException;
          if (!["EISDIR", "ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(code)) throw error;
          throw new UserError(`Cannot write ${join(root, path)}: ${message}.`);
        }
      },
    }).finally(() => closeSync(manifest));
    renameSync(manifestPath, join(root, manifestName));
    return result;
  });
}

/** Makes folders below the root, from the top down. Follows no link out of the root. */
function makeFolders(root: string, path: string, made: Set<string>): void {
  if (made.has(path)) return;
  makeFolders(root, dirname(path), made);
  const absolute = join(root, path);
  try {
    mkdirSync(absolute);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (!lstatSync(absolute).isDirectory()) {
      throw new UserError(`Cannot write below ${absolute}: it is not a folder.`);
    }
  }
  made.add(path);
}
