/**
 * The rules of a KV namespace whose entries are objects of a bucket.
 *
 * The object of an entry has the key of the entry and, in its custom metadata, what S3 has no place for:
 *
 *     expiration   seconds since the epoch
 *     metadata     base64 of JSON, whose size in a header does not depend on its characters
 *
 * The content of an entry that expires begins with a line of its expiration. So the entity tag names the
 * expiration too, and a delete that is guarded by the tag of an expired entry never removes an entry that was
 * put since with the same value. Other entries have the value as their content.
 *
 * Limits and texts are those of the deployed service.
 */
import type { CustomMetadata } from "../core/metadata.ts";
import { utf8Length } from "../core/key.ts";

/** Limits of KV: https://developers.cloudflare.com/kv/platform/limits/ */
const keyBytesMax = 512;
export const valueBytesMax = 25 * 1024 * 1024;
export const metadataBytesMax = 1024;
const listLimitMax = 1000;
const bulkKeysMax = 100;
const expirationTtlSecondsMin = 60;
const cacheTtlSecondsMin = 30;

/** An answer of the service that is no success. */
export class NamespaceError extends Error {
  override readonly name = "NamespaceError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface NamespaceEntry {
  /** Seconds since the epoch. */
  readonly expiration?: number;
  /** The text of JSON. */
  readonly metadata?: string;
}

export function isExpired({ expiration }: NamespaceEntry, nowMilliseconds: number): boolean {
  return expiration !== undefined && expiration * 1000 <= nowMilliseconds;
}

/** What the content of the entry's object begins with. */
export function contentStart({ expiration }: NamespaceEntry): string {
  return expiration === undefined ? "" : `${expiration}\n`;
}

export function entryToCustom({ expiration, metadata }: NamespaceEntry): CustomMetadata {
  return {
    ...(expiration !== undefined && { expiration: String(expiration) }),
    ...(metadata !== undefined && { metadata: encodeBase64(metadata) }),
  };
}

/** An object of another writer is an entry without expiration and metadata. */
export function entryOfCustom({ expiration, metadata }: CustomMetadata = {}): NamespaceEntry {
  const isTime = expiration !== undefined && /^\d{1,15}$/.test(expiration);
  const text = metadata === undefined ? null : decodeBase64(metadata);
  return {
    ...(isTime && { expiration: Number(expiration) }),
    ...(text !== null && { metadata: text }),
  };
}

function encodeBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function decodeBase64(encoded: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(encoded), (octet) => octet.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

/** @throws NamespaceError */
export function validateKey(key: string): void {
  if (key === "") throw new NamespaceError(400, "Key names must not be empty");
  if (key === "." || key === "..") {
    throw new NamespaceError(400, `Illegal key name "${key}". Please use a different name.`);
  }
  validateKeyLength(key);
}

/** Of a key, or of a prefix of keys. */
function validateKeyLength(key: string): void {
  const bytes = utf8Length(key);
  if (bytes <= keyBytesMax) return;
  throw new NamespaceError(
    414,
    `UTF-8 encoded length of ${bytes} exceeds key length limit of ${keyBytesMax}.`,
  );
}

export function validateValueLength(bytes: number): void {
  if (bytes <= valueBytesMax) return;
  throw new NamespaceError(413, `Value length of ${bytes} exceeds limit of ${valueBytesMax}.`);
}

/** Values are not cached, so the time is checked and has no effect. */
export function validateCacheTtl(given: string | null): void {
  if (given === null) return;
  const seconds = Number.parseInt(given);
  if (seconds >= cacheTtlSecondsMin) return;
  throw new NamespaceError(
    400,
    `Invalid cache_ttl of ${seconds}. Cache TTL must be at least ${cacheTtlSecondsMin}.`,
  );
}

export interface GivenEntry {
  readonly expiration: string | null;
  readonly expirationTtl: string | null;
  readonly metadata: string | null;
}

/** @throws NamespaceError */
export function parseEntry(given: GivenEntry, nowMilliseconds: number): NamespaceEntry {
  const expiration = parseExpiration(given, Math.floor(nowMilliseconds / 1000));
  const { metadata } = given;
  const bytes = utf8Length(metadata ?? "");
  if (bytes > metadataBytesMax) {
    throw new NamespaceError(
      413,
      `Metadata length of ${bytes} exceeds limit of ${metadataBytesMax}.`,
    );
  }
  return {
    ...(expiration !== null && { expiration }),
    ...(metadata !== null && { metadata }),
  };
}

function parseExpiration(
  { expiration: time, expirationTtl: ttl }: GivenEntry,
  nowSeconds: number,
): number | null {
  if (ttl !== null) {
    const seconds = Number.parseInt(ttl);
    const invalid = `Invalid expiration_ttl of ${ttl}.`;
    if (!(seconds > 0)) {
      throw new NamespaceError(400, `${invalid} Please specify integer greater than 0.`);
    }
    if (seconds >= expirationTtlSecondsMin) return nowSeconds + seconds;
    throw new NamespaceError(
      400,
      `${invalid} Expiration TTL must be at least ${expirationTtlSecondsMin}.`,
    );
  }
  if (time === null) return null;
  const seconds = Number.parseInt(time);
  const invalid = `Invalid expiration of ${time}.`;
  if (!(seconds > nowSeconds)) {
    throw new NamespaceError(
      400,
      `${invalid} Please specify integer greater than the current number of seconds since the UNIX epoch.`,
    );
  }
  if (seconds >= nowSeconds + expirationTtlSecondsMin) return seconds;
  throw new NamespaceError(
    400,
    `${invalid} Expiration times must be at least ${expirationTtlSecondsMin} seconds in the future.`,
  );
}

export interface ListQuery {
  readonly limit: number;
  readonly prefix: string;
  readonly cursor?: string;
}

/** @throws NamespaceError */
export function parseListQuery(query: Pick<URLSearchParams, "get">): ListQuery {
  const text = query.get("key_count_limit");
  const limit = text === null ? listLimitMax : Number.parseInt(text);
  const invalid = `Invalid key_count_limit of ${limit}. Please specify an integer`;
  if (!(limit >= 1)) throw new NamespaceError(400, `${invalid} greater than 0.`);
  if (limit > listLimitMax) throw new NamespaceError(400, `${invalid} less than ${listLimitMax}.`);
  const prefix = query.get("prefix") ?? "";
  validateKeyLength(prefix);
  const cursor = query.get("cursor") ?? "";
  return { limit, prefix, ...(cursor !== "" && { cursor }) };
}

export interface BulkQuery {
  readonly keys: readonly string[];
  readonly type: "text" | "json";
  readonly withMetadata: boolean;
}

/** @throws NamespaceError */
export function parseBulkQuery(text: string): BulkQuery {
  const given = JSON.parse(text) as Partial<BulkQuery> & { readonly cacheTtl?: string };
  const { keys = [], type = "text", withMetadata = false, cacheTtl = null } = given;
  if (type !== "text" && type !== "json") {
    throw new NamespaceError(400, `"${String(type)}" is not a valid type. Use "json" or "text"`);
  }
  if (keys.length > bulkKeysMax) {
    throw new NamespaceError(400, `You can request a maximum of ${bulkKeysMax} keys`);
  }
  if (keys.length < 1) throw new NamespaceError(400, "You must request a minimum of 1 key");
  validateCacheTtl(cacheTtl);
  for (const key of keys) validateKey(key);
  return { keys, type, withMetadata };
}
