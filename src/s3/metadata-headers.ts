/** The properties of an object as headers: HTTP metadata, `x-amz-meta-*`, the storage class. */
import {
  httpMetadataFields,
  httpMetadataFromHeaders,
  httpMetadataHeaders,
  type CustomMetadata,
  type HttpMetadata,
} from "../store/core/metadata.ts";
import type { ObjectDescription, ObjectRecord, StorageClass } from "../store/core/operations.ts";
import { parseCustomerKey } from "./customer-key-headers.ts";
import { decodeWords, encodeWords } from "../http/headers.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers, S3Parameters } from "./s3-request.ts";

const customPrefix = "x-amz-meta-";
const storageClasses: Readonly<Record<string, StorageClass>> = {
  STANDARD: "Standard",
  STANDARD_IA: "InfrequentAccess",
};
/** A name that HTTP allows (RFC 9110 section 5.6.2). */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

/** @throws S3Error InvalidStorageClass, and for the key of a customer that is not valid */
export function parseDescription(headers: S3Headers): ObjectDescription {
  return {
    http: parseHttpMetadata(headers),
    custom: parseCustomMetadata(headers),
    storageClass: parseStorageClass(headers) ?? "Standard",
    ...parseCustomerKey(headers),
  };
}

function parseHttpMetadata(headers: S3Headers): HttpMetadata {
  const { contentEncoding, ...others } = httpMetadataFromHeaders(headers);
  // The chunks of the body are an encoding of the request, not of the object.
  const encodings = (contentEncoding ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name.toLowerCase() !== "aws-chunked");
  return encodings.length === 0 ? others : { ...others, contentEncoding: encodings.join(", ") };
}

function parseCustomMetadata(headers: S3Headers): CustomMetadata {
  return Object.fromEntries(
    headers
      .withPrefix(customPrefix)
      .map(([name, value]) => [name.slice(customPrefix.length), decodeWords(value)]),
  );
}

/** @returns `null` when the request has none */
function parseStorageClass(headers: S3Headers): StorageClass | null {
  const text = headers.get("x-amz-storage-class");
  if (text === null) return null;
  const found = Object.hasOwn(storageClasses, text) ? storageClasses[text] : undefined;
  if (found === undefined) throw new S3Error("InvalidStorageClass");
  return found;
}

export function storageClassName(storageClass: StorageClass): string {
  return storageClass === "Standard" ? "STANDARD" : "STANDARD_IA";
}

type Described = Pick<ObjectRecord, "etag" | "uploaded" | "storageClass"> &
  Required<Pick<ObjectRecord, "http" | "custom">>;

/** The headers of a response that is about an object. */
export function objectHeaders(object: Described): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
    etag: `"${object.etag}"`,
    "last-modified": new Date(object.uploaded).toUTCString(),
  };
  for (const field of httpMetadataFields) {
    const value = object.http[field];
    if (value !== undefined) headers[httpMetadataHeaders[field]] = headerText(value);
  }
  if (object.http.cacheExpiry !== undefined) {
    headers["expires"] = new Date(object.http.cacheExpiry).toUTCString();
  }
  if (object.storageClass !== "Standard") {
    headers["x-amz-storage-class"] = storageClassName(object.storageClass);
  }
  return { ...headers, ...customHeaders(object.custom) };
}

function customHeaders(custom: CustomMetadata): Record<string, string> {
  const headers: Record<string, string> = {};
  let missing = 0;
  for (const [name, value] of Object.entries(custom)) {
    const encoded = encodeWords(value);
    // The binding accepts names that no header can have. `x-amz-missing-meta` counts them.
    if (headerName.test(name) && encoded !== null) headers[customPrefix + name] = encoded;
    else missing++;
  }
  return missing === 0 ? headers : { ...headers, "x-amz-missing-meta": String(missing) };
}

/** The octets of UTF-8 as characters, as HTTP carries them, without control characters. */
function headerText(value: string): string {
  const octets = new TextEncoder().encode(value.replace(/[^\P{Cc}\t]/gu, " "));
  return Array.from(octets, (octet) => String.fromCharCode(octet)).join("");
}

const overrides = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/** The headers that `response-*` parameters set. Presigned URLs have them. */
export function overriddenHeaders(parameters: S3Parameters): Record<string, string> {
  return Object.fromEntries(
    overrides.flatMap((name) => {
      const value = parameters.get(`response-${name}`);
      return value === null ? [] : [[name, headerText(value)]];
    }),
  );
}
