/**
 * The properties of an object that S3 cannot say, packed into one header of user metadata.
 *
 *     x-amz-meta-ledge: base64url of JSON
 *
 * HTTP metadata is in the standard headers, so that other readers see them. `headers` names those that the
 * uploader gave, because services add headers of their own, such as a content type. A value that no header
 * can carry unchanged is in `http`.
 */
import type { Checksums } from "../core/checksum.ts";
import {
  httpMetadataFields,
  httpMetadataHeaders,
  type CustomMetadata,
  type HttpMetadata,
} from "../core/metadata.ts";
import type { ObjectDescription, StorageClass } from "../core/operations.ts";

/** The name of the header. */
export const packedHeader = "x-amz-meta-ledge";

/** What is packed beside the description that the uploader gives. */
interface PackedFields {
  readonly version: string;
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  /** All but the MD5, which is the entity tag. */
  readonly checksums: Checksums;
}

/** An object, as far as its headers describe it. */
export type PackedObject = ObjectDescription & PackedFields;

interface Packed {
  readonly version: string;
  readonly uploaded: number;
  readonly headers?: readonly string[];
  readonly http?: HttpMetadata;
  readonly custom?: CustomMetadata;
  readonly storageClass?: StorageClass;
  readonly checksums?: Checksums;
  readonly ssecKeyMd5?: string;
}

/** The headers of a request that stores an object. */
export function packHeaders(object: PackedObject): Record<string, string> {
  const { version, uploaded, custom, storageClass, ssecKeyMd5 } = object;
  const { md5: _, ...checksums } = object.checksums;
  const { headers, names, others } = httpHeaders(object.http);
  const packed: Packed = {
    version,
    uploaded,
    ...(names.length > 0 && { headers: names }),
    ...(!isEmpty(others) && { http: others }),
    ...(!isEmpty(custom) && { custom }),
    ...(storageClass !== "Standard" && { storageClass }),
    ...(!isEmpty(checksums) && { checksums }),
    ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
  };
  return { ...headers, [packedHeader]: encodeText(JSON.stringify(packed)) };
}

/** `null` for an object of another writer. */
export function unpackHeaders(headers: Pick<Headers, "get">): PackedObject | null {
  const packed = parsePacked(headers.get(packedHeader));
  if (packed === null) return null;
  const { version, uploaded, custom = {}, storageClass = "Standard", ssecKeyMd5 } = packed;
  const named = new Set(packed.headers);
  const http: Record<string, string | number> = { ...packed.http };
  for (const field of httpMetadataFields) {
    const value = named.has(field) ? headers.get(httpMetadataHeaders[field]) : null;
    if (value !== null) http[field] = value;
  }
  const expires = named.has("cacheExpiry") ? headers.get("expires") : null;
  if (expires !== null) http["cacheExpiry"] = Date.parse(expires) || 0;
  return {
    version,
    uploaded,
    http,
    custom,
    storageClass,
    checksums: packed.checksums ?? {},
    ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
  };
}

/** A value that every service returns as it was sent. */
const plainValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

function httpHeaders(http: HttpMetadata): {
  headers: Record<string, string>;
  names: string[];
  others: HttpMetadata;
} {
  const headers: Record<string, string> = {};
  const names: string[] = [];
  const others: Record<string, string | number> = {};
  for (const field of httpMetadataFields) {
    const value = http[field];
    if (value === undefined) continue;
    if (isPlain(field, value)) {
      headers[httpMetadataHeaders[field]] = value;
      names.push(field);
    } else others[field] = value;
  }
  const { cacheExpiry } = http;
  if (cacheExpiry !== undefined) {
    const text = expiresText(cacheExpiry);
    if (text === null) others["cacheExpiry"] = cacheExpiry;
    else {
      headers["expires"] = text;
      names.push("cacheExpiry");
    }
  }
  return { headers, names, others };
}

function isPlain(field: keyof typeof httpMetadataHeaders, value: string): boolean {
  // Services remove the encoding of a request from the encodings of the object.
  const isRemoved = field === "contentEncoding" && /aws-chunked/i.test(value);
  return plainValue.test(value) && !isRemoved;
}

/** `null` for a time that a date of HTTP cannot say: with a fraction, or without four digits of a year. */
function expiresText(time: number): string | null {
  const date = new Date(time);
  const year = date.getUTCFullYear();
  return time % 1000 === 0 && year >= 1970 && year <= 9999 ? date.toUTCString() : null;
}

function parsePacked(text: string | null): Packed | null {
  if (text === null) return null;
  try {
    const packed = JSON.parse(decodeText(text)) as Partial<Packed> | null;
    const isValid = typeof packed?.version === "string" && Number.isFinite(packed.uploaded);
    return isValid ? (packed as Packed) : null;
  } catch {
    // Another writer uses the same name.
    return null;
  }
}

/** Text as base64url, without padding. */
export function encodeText(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws an error for text that `encodeText` did not make */
export function decodeText(encoded: string): string {
  const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (octet) => octet.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
