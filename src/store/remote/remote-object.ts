/**
 * The form of an object on an S3 service, and the ids of uploads.
 *
 * The properties of an object that S3 cannot say are packed into one header of user metadata:
 *
 *     x-amz-meta-ledge: base64url of JSON
 *
 * HTTP metadata is in the standard headers, so that other readers see them. `headers` names those that the
 * uploader gave, because services add headers of their own, such as a content type. A value that no header
 * can carry unchanged is in `http`.
 *
 * Ids of multipart uploads are `ID~CHECKSUM`, or `ID~CHECKSUMPROPERTIES`: some clients do not encode ids, so all of
 * our characters are unreserved ones (RFC 3986 section 2.3). `ID` is that of the service. The
 * checksum is of the key and of `ID`: an id with this checksum was an upload of the key at some time, so to
 * abort it is no error, even if the service knows it no more. An S3 service does not show what an upload was
 * created with, so the id carries the properties that later requests need, as base64url of JSON. Most uploads
 * have none: then a listing has the same id.
 */
import { checksumsInHeaders, decodeWords } from "../../http/headers.ts";
import type { Checksums, UploadChecksum } from "../core/checksum.ts";
import type { Conditional } from "../core/conditional.ts";
import { crcOf } from "../core/hash.ts";
import {
  type KeyHolder,
  httpMetadataFields,
  httpMetadataFromHeaders,
  httpMetadataHeaders,
  type HttpMetadata,
} from "../core/metadata.ts";
import {
  decodeObject,
  encodeFields,
  encodeMetadata,
  joinEncoded,
  type NewObject,
} from "../core/object.ts";
import type {
  DescribedObject,
  EncodedObject,
  ObjectDescription,
  StorageClass,
} from "../core/operations.ts";
import { RemoteError } from "./s3-transport.ts";

export const packedHeader = "x-amz-meta-ledge";
const customPrefix = "x-amz-meta-";

/**
 * @param size of the whole object
 * @throws RemoteError for an answer without an entity tag, which is the page of another server
 */
export function objectOfHeaders(key: string, headers: Headers, size: number): FoundObject {
  const etag = etagOf(headers);
  if (etag === "") {
    throw new RemoteError(
      "refused",
      `Cannot read "${key}": the answer is not that of an S3 service, because the answer has no entity tag. Correct ` +
        "endpoint, or look at what is between this machine and the service.",
    );
  }
  const packed = unpackHeaders(headers) ?? foreignObject(headers, etag);
  const { checksums, uploaded, ...fields } = packed;
  // The header of an object in parts was written before the first part.
  const isOfParts = partsCountOf(etag) !== null;
  const ofParts = isOfParts ? serviceChecksums(headers) : {};
  return {
    ...fields,
    key,
    size,
    etag,
    uploaded: isOfParts ? Math.max(uploaded, lastModified(headers)) : uploaded,
    checksums: { ...md5Of(etag, headers), ...ofParts, ...checksums },
    age: ageOf(headers, isOfParts),
  };
}

/** An object of a service, as far as decisions about writes need it. */
export interface FoundObject extends NewObject {
  readonly isUnconditional?: true;
  readonly age: number | null;
}

/**
 * How long ago the service has stored the object, in milliseconds by its own clock, in whole seconds. `null`: not
 * known. The time of an object in parts is the begin of the upload on some services.
 */
function ageOf(headers: Headers, isOfParts: boolean): number | null {
  const stored = lastModified(headers);
  const now = Date.parse(headers.get("date") ?? "") || 0;
  return isOfParts || stored === 0 || now === 0 ? null : now - stored;
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
  return encryption === "AES256" ? md5OfEtag(etag) : {};
}

/** A list does not say which objects are encrypted. */
export function md5OfEtag(etag: string): Checksums {
  return /^[0-9a-f]{32}$/.test(etag) ? { md5: etag } : {};
}

/** An object, as far as its headers describe it. */
export interface PackedObject extends ObjectDescription {
  readonly version: string;
  readonly uploaded: number;
  /** All but the MD5, which is the entity tag. */
  readonly checksums: Checksums;
  /** Whether the put had no condition: then another put may count as stored right before it. */
  readonly isUnconditional?: true;
}

/** The JSON of the header, without what is empty or standard. */
type Packed = Pick<PackedObject, "version" | "uploaded"> &
  Partial<PackedObject> & { readonly headers?: readonly string[] };

export function packHeaders(object: PackedObject): Record<string, string> {
  const { version, uploaded, custom, storageClass, ssecKeyMd5, isUnconditional } = object;
  const { md5: _, ...checksums } = object.checksums;
  const headers: Record<string, string> = {};
  const names: string[] = [];
  const others: Record<string, string | number> = {};
  for (const [field, header] of headerFields) {
    const value = object.http[field];
    if (value === undefined) continue;
    const text = typeof value === "number" ? expiresText(value) : plainText(field, value);
    if (text === null) others[field] = value;
    else {
      headers[header] = text;
      names.push(field);
    }
  }
  const packed: Packed = {
    version,
    uploaded,
    headers: names.length > 0 ? names : undefined,
    http: presentFields(others),
    custom: presentFields(custom),
    storageClass: storageClass === "Standard" ? undefined : storageClass,
    checksums: presentFields(checksums),
    ssecKeyMd5,
    isUnconditional,
  };
  return { ...headers, [packedHeader]: encodeText(JSON.stringify(packed)) };
}

/** `null` for an object of another writer. */
export function unpackHeaders(headers: Pick<Headers, "get">): PackedObject | null {
  const packed = parsePacked(headers.get(packedHeader));
  if (packed === null) return null;
  const { headers: named, ...fields } = packed;
  const http: Record<string, string | number> = { ...packed.http };
  for (const [field, header] of headerFields) {
    const text = named?.includes(field) === true ? headers.get(header) : null;
    if (text !== null) http[field] = field === "cacheExpiry" ? Date.parse(text) || 0 : text;
  }
  return { custom: {}, storageClass: "Standard", checksums: {}, ...fields, http };
}

/** The HTTP metadata that standard headers carry. */
const headerFields: readonly (readonly [field: keyof HttpMetadata, header: string])[] = [
  ...httpMetadataFields.map((field) => [field, httpMetadataHeaders[field]] as const),
  ["cacheExpiry", "expires"],
];

/** `null` for a value that a service may not return as it was sent. */
function plainText(field: keyof HttpMetadata, value: string): string | null {
  // Services remove the encoding of a request from the encodings of the object.
  const isRemoved = field === "contentEncoding" && /aws-chunked/i.test(value);
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  return isPlain && !isRemoved ? value : null;
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

function encodeText(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws an error for text that `encodeText` did not make */
function decodeText(encoded: string): string {
  const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (octet) => octet.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function presentFields<Fields extends object>(fields: Fields): Fields | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}

export interface UploadProperties extends KeyHolder, UploadChecksum {
  readonly storageClass?: StorageClass;
  /** Of the creation; it holds at the completion, too. */
  readonly onlyIf?: Conditional;
}

interface UploadIdentity {
  readonly serviceId: string;
  /** Whether the upload is, or was, an upload of the key. */
  readonly isIssued: boolean;
  readonly properties: UploadProperties;
}

export function encodeUploadId(
  key: string,
  serviceId: string,
  properties: UploadProperties = {},
): string {
  const hasNone = Object.keys(properties).length === 0;
  const text = hasNone ? "" : encodeText(JSON.stringify(properties));
  return `${serviceId}~${checksumOf(key, serviceId)}${text}`;
}

/** An id that is not ours may be one that the service knows. */
export function decodeUploadId(key: string, uploadId: string): UploadIdentity {
  const unknown = { serviceId: uploadId, isIssued: false, properties: {} };
  const [, serviceId, checksum, text] = /^([^]*)~([0-9a-f]{8})([\w-]*)$/.exec(uploadId) ?? [];
  if (serviceId === undefined || checksum !== checksumOf(key, serviceId)) return unknown;
  try {
    const properties = (text ? JSON.parse(decodeText(text)) : {}) as UploadProperties;
    return { serviceId, isIssued: true, properties };
  } catch {
    return unknown;
  }
}

function checksumOf(key: string, serviceId: string): string {
  return crcOf("crc32", new TextEncoder().encode(`${serviceId}\n${key}`));
}
