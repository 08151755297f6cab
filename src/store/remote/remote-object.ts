/** The object that the headers of an answer describe. */
import { decodeWords, checksumsInHeaders } from "../../http/headers.ts";
import type { Checksums } from "../core/checksum.ts";
import {
  httpMetadataFields,
  httpMetadataFromHeaders,
  httpMetadataHeaders,
} from "../core/http-metadata.ts";
import {
  decodeObject,
  encodeFields,
  encodeMetadata,
  joinEncoded,
  type NewObject,
} from "../core/object-encoding.ts";
import type { DescribedObject, EncodedObject } from "../core/operations.ts";
import { packedHeader, unpackHeaders, type PackedObject } from "./packed-header.ts";

const customPrefix = "x-amz-meta-";

/** @param size of the whole object */
export function objectOfHeaders(key: string, headers: Headers, size: number): NewObject {
  const etag = etagOf(headers);
  const packed = unpackHeaders(headers) ?? foreignObject(headers, etag);
  const { checksums, uploaded, ...fields } = packed;
  // The header of an object in parts was written before the first part.
  const isOfParts = partsCountOf(etag) !== null;
  const ofParts = isOfParts ? serviceChecksums(headers) : {};
  return {
    key,
    size,
    etag,
    ...fields,
    uploaded: isOfParts ? Math.max(uploaded, lastModified(headers)) : uploaded,
    checksums: { ...md5Of(etag, headers), ...ofParts, ...checksums },
  };
}

export function encodeObject(object: NewObject): EncodedObject {
  return joinEncoded(encodeFields(object), encodeMetadata(object.http, object.custom));
}

/** The object as callers see it: its checksums are separated. */
export function describeObject(object: NewObject): DescribedObject {
  return decodeObject(object.key, encodeObject(object));
}

/** Without quotes; empty for an answer that has none. */
export function etagOf(headers: Pick<Headers, "get">): string {
  return unquoted(headers.get("etag") ?? "");
}

/** An entity tag without its quotes, and without the mark of a weak tag. */
export function unquoted(etag: string): string {
  return etag.trim().replace(/^(?:W\/)?"?([^"]*)"?$/, "$1");
}

/** The number of parts in the entity tag of an object that was uploaded in parts; `null` for others. */
export function partsCountOf(etag: string): number | null {
  const count = /-(\d+)$/.exec(etag)?.[1];
  return count === undefined ? null : Number(count);
}

/** An object of another writer has values that are sensible. */
function foreignObject(headers: Headers, etag: string): PackedObject {
  const isInfrequent = headers.get("x-amz-storage-class") === "STANDARD_IA";
  return {
    version: etag,
    uploaded: lastModified(headers),
    http: presentHttp(headers),
    custom: Object.fromEntries(
      [...headers]
        .filter(([name]) => name.startsWith(customPrefix) && name !== packedHeader)
        .map(([name, value]) => [name.slice(customPrefix.length), decodeWords(value)]),
    ),
    storageClass: isInfrequent ? "InfrequentAccess" : "Standard",
    checksums: serviceChecksums(headers),
  };
}

/** In whole seconds; 0 for an answer without a time. */
function lastModified(headers: Pick<Headers, "get">): number {
  return Date.parse(headers.get("last-modified") ?? "") || 0;
}

function presentHttp(headers: Headers): DescribedObject["http"] {
  const http: Record<string, unknown> = { ...httpMetadataFromHeaders(headers) };
  // Some services answer with an empty header for metadata that the object does not have.
  for (const field of httpMetadataFields) {
    if (headers.get(httpMetadataHeaders[field]) === "") delete http[field];
  }
  return http;
}

/**
 * The checksum that a service has stored. Not all services have one.
 *
 * A composite checksum of a single part is left out: Ceph sends the checksum of the content in this form,
 * whichever type the upload has, and nothing in the answer tells both apart.
 */
function serviceChecksums(headers: Pick<Headers, "get">): Checksums {
  const [given, ...others] = checksumsInHeaders(headers);
  if (given === undefined || given.hex === null || others.length > 0) return {};
  return given.hex.endsWith("-1") ? {} : { [given.algorithm]: given.hex };
}

/** The entity tag is the MD5, unless the object was uploaded in parts or the service encrypts it. */
function md5Of(etag: string, headers: Pick<Headers, "get">): Checksums {
  const encryption = headers.get("x-amz-server-side-encryption") ?? "AES256";
  return encryption === "AES256" && /^[0-9a-f]{32}$/.test(etag) ? { md5: etag } : {};
}
