/**
 * What an export knows of its files that the files do not: `.ledge-metadata.jsonl`, a line of JSON
 * for each, behind a first line that says what it is.
 */
import { isAbsolute } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { checksumAlgorithms, type Checksums } from "../../store/core/checksum.ts";
import {
  httpMetadataFields,
  type CustomMetadata,
  type HttpMetadata,
} from "../../store/core/http-metadata.ts";
import type { ObjectRecord, StorageClass } from "../../store/core/operations.ts";
import { fromHttpJson, toObjectJson, type HttpMetadataJson } from "./object-json.ts";

export interface ManifestEntry {
  readonly key: string;
  /** Of the file, from the folder of the manifest, with slashes. */
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  readonly http: HttpMetadata;
  readonly custom: CustomMetadata;
  readonly checksums: Checksums;
  readonly storageClass: StorageClass;
}

export const manifestHead = JSON.stringify({ format: "ledge store export", version: 1 });

export function encodeEntry(record: ObjectRecord, path: string): string {
  const { key, uploaded: _, version: __, ...rest } = toObjectJson(record);
  return JSON.stringify({ key, ...(path !== key && { path }), ...rest });
}

/** @throws UserError for what is no manifest, or one of a later kind */
export function checkHead(line: string): void {
  const head = parseLine(line, 1) as { format?: unknown; version?: unknown };
  if (head.format !== "ledge store export" || head.version !== 1) {
    throw new UserError("The manifest is of a kind that this version does not know.");
  }
}

/** @throws UserError for a line that an export does not write */
export function decodeEntry(line: string, number: number): ManifestEntry {
  const entry = parseLine(line, number);
  const { key, size, etag, path = key, storageClass } = entry;
  const { httpMetadata: http = {}, customMetadata: custom = {}, checksums = {} } = entry;
  const isWhole =
    typeof key === "string" &&
    typeof path === "string" &&
    typeof size === "number" &&
    typeof etag === "string" &&
    (storageClass === "Standard" || storageClass === "InfrequentAccess") &&
    isTextTable(http, [...httpMetadataFields, "cacheExpiry"]) &&
    isTextTable(custom) &&
    isTextTable(checksums, Object.keys(checksumAlgorithms)) &&
    !Number.isNaN(Date.parse((http as HttpMetadataJson).cacheExpiry ?? "1970-01-01"));
  if (!isWhole) throw mistake(number, "is not a whole entry");
  // Whoever wrote it: nothing outside of the folder is meant.
  if (isAbsolute(path) || path.split(/[\\/]/).includes("..")) {
    throw mistake(number, `names a file outside of the folder, ${JSON.stringify(path)}`);
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
  };
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw mistake(number, "is not a JSON object");
}

function mistake(line: number, problem: string): UserError {
  return new UserError(
    `Line ${line} of the manifest ${problem}. Export again, or remove the manifest to import ` +
      "the files without it.",
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
