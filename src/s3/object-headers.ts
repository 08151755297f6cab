/**
 * What headers and parameters say about an object. In requests and in responses: HTTP metadata,
 * `x-amz-meta-*`, the storage class, the key of a customer (SSE-C), checksums. In requests, which version
 * and which bytes: `If-Match` and its relatives, `If-Range`, `Range`, the number of a part, the source of
 * a copy. The texts of errors are those of the deployed service.
 */
import { hexToBase64 } from "../base/hex.ts";
import { checksumHeaders, decodeWords, encodeWords } from "../http/headers.ts";
import { contentRange, type ByteRange, type RangeRequest } from "../store/core/byte-range.ts";
import { conditionsOfHeaders, type Conditional } from "../store/core/conditional.ts";
import {
  type KeyHolder,
  httpMetadataFields,
  httpMetadataFromHeaders,
  httpMetadataHeaders,
} from "../store/core/metadata.ts";
import { md5 } from "../store/core/hash.ts";
import { partNumberMax } from "../store/core/limits.ts";
import type { DescribedObject, ObjectDescription, StorageClass } from "../store/core/operations.ts";
import { allChecksums } from "../store/core/object.ts";
import { S3Error } from "./s3-errors.ts";
import type { S3Request, S3Response } from "./s3-message.ts";

type S3Headers = S3Request["headers"];

const customPrefix = "x-amz-meta-";
const storageClasses = new Map<string, StorageClass>([
  ["STANDARD", "Standard"],
  ["STANDARD_IA", "InfrequentAccess"],
]);
/** A name that HTTP allows (RFC 9110 section 5.6.2). */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * @param usualClass the class of the bucket's objects that are stored without one
 * @throws S3Error InvalidStorageClass, and for the key of a customer that is not valid
 */
export function parseDescription(
  headers: S3Headers,
  usualClass: StorageClass = "Standard",
): ObjectDescription {
  const given = headers.get("x-amz-storage-class");
  const storageClass = given === undefined ? usualClass : storageClasses.get(given);
  if (storageClass === undefined) throw new S3Error("InvalidStorageClass");
  const { contentEncoding = "", ...http } = httpMetadataFromHeaders(headers);
  // The chunks of the body are an encoding of the request, not of the object.
  const encodings = contentEncoding
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name.toLowerCase() !== "aws-chunked");
  const custom = Array.from(headers)
    .filter(([name]) => name.startsWith(customPrefix))
    .map(([name, value]) => [name.slice(customPrefix.length), decodeWords(value)] as const);
  return {
    http: encodings.length === 0 ? http : { ...http, contentEncoding: encodings.join(", ") },
    custom: Object.fromEntries(custom),
    storageClass,
    ...parseCustomerKey(headers),
  };
}

export function storageClassName(storageClass: StorageClass): string {
  return storageClass === "Standard" ? "STANDARD" : "STANDARD_IA";
}

export interface ShownObject {
  readonly object: DescribedObject;
  readonly range: ByteRange;
  readonly partsCount?: number;
  /** Whether the request is about a range or a part, which can be all of the object. */
  readonly isPartial: boolean;
}

export function objectResponse(
  { headers, parameters }: Pick<S3Request, "headers" | "parameters">,
  { object, range, partsCount, isPartial }: ShownObject,
): S3Response {
  // Of an empty object there is no range.
  const hasRange = isPartial && range.length > 0;
  // Clients verify the body of the response with these checksums, which are those of the object.
  const isWhole = range.length === object.size;
  const showsChecksums = headers.get("x-amz-checksum-mode")?.toUpperCase() === "ENABLED" && isWhole;
  return {
    status: hasRange ? 206 : 200,
    headers: {
      ...objectHeaders(object),
      ...overriddenHeaders(parameters),
      ...customerKeyHeaders(object),
      ...(showsChecksums && checksumHeaders(allChecksums(object))),
      "content-range": hasRange ? contentRange(range, object.size) : undefined,
      "x-amz-mp-parts-count": partsCount?.toString(),
      "content-length": String(range.length),
    },
  };
}

export function notModified(object: DescribedObject): S3Response {
  const { "content-type": _type, ...headers } = objectHeaders(object);
  return { status: 304, headers };
}

export function objectHeaders(
  object: Pick<DescribedObject, "etag" | "uploaded" | "storageClass" | "http" | "custom">,
): Record<string, string> {
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
  let missing = 0;
  for (const [name, value] of Object.entries(object.custom)) {
    const encoded = encodeWords(value);
    // The binding accepts names that no header can have. `x-amz-missing-meta` counts them.
    if (headerName.test(name) && encoded !== null) headers[customPrefix + name] = encoded;
    else missing++;
  }
  if (missing > 0) headers["x-amz-missing-meta"] = String(missing);
  return headers;
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
export function overriddenHeaders(parameters: S3Request["parameters"]): Record<string, string> {
  return Object.fromEntries(
    overrides.flatMap((name) => {
      const value = parameters.get(`response-${name}`);
      return value === undefined ? [] : [[name, headerText(value)]];
    }),
  );
}

const keyAlgorithm = "AES256";
/** 32 bytes. */
const base64OfKey = /^[A-Za-z0-9+/]{43}=?$/;
const keyPrefix = "x-amz-server-side-encryption-customer-";
export const sourceKeyPrefix = "x-amz-copy-source-server-side-encryption-customer-";

/**
 * @param prefix of the names: that of the object, or `sourceKeyPrefix`
 * @throws S3Error for headers that are incomplete or not valid
 */
export function parseCustomerKey(headers: S3Headers, prefix = keyPrefix): KeyHolder {
  const algorithm = headers.get(`${prefix}algorithm`);
  const key = headers.get(`${prefix}key`);
  const keyMd5 = headers.get(`${prefix}key-md5`);
  if (algorithm === undefined && key === undefined && keyMd5 === undefined) return {};
  if (key === undefined) throw incomplete("an appropriate secret key.");
  if (keyMd5 === undefined) throw incomplete("the client calculated MD5 of the secret key.");
  if (algorithm === undefined) throw incomplete("a valid encryption algorithm.");
  if (algorithm !== keyAlgorithm) throw new S3Error("InvalidEncryptionAlgorithmError");
  if (!base64OfKey.test(key)) {
    throw new S3Error("InvalidArgument", "The secret key was invalid for the specified algorithm.");
  }
  const ssecKeyMd5 = md5(Buffer.from(key, "base64"));
  if (hexToBase64(ssecKeyMd5) !== keyMd5) {
    throw new S3Error(
      "InvalidArgument",
      "The calculated MD5 hash of the key did not match the hash that was provided.",
    );
  }
  if (prefix === keyPrefix && headers.has("x-amz-server-side-encryption")) {
    throw new S3Error(
      "InvalidArgument",
      "Server Side Encryption with Customer provided key is incompatible with the encryption " +
        "method specified",
    );
  }
  return { ssecKeyMd5 };
}

function incomplete(missing: string): S3Error {
  return new S3Error(
    "InvalidArgument",
    `Requests specifying Server Side Encryption with Customer provided keys must provide ${missing}`,
  );
}

export function customerKeyHeaders({ ssecKeyMd5 }: KeyHolder): Record<string, string> {
  if (ssecKeyMd5 === undefined) return {};
  return {
    [`${keyPrefix}algorithm`]: keyAlgorithm,
    [`${keyPrefix}key-md5`]: hexToBase64(ssecKeyMd5),
  };
}

/** Headers, or the parameters of a query. */
interface Values {
  get(name: string): string | undefined;
}

/** @throws S3Error InvalidArgument for an entity tag that is not valid */
export function parseConditions(headers: Values, prefix = ""): Conditional | undefined {
  try {
    return conditionsOfHeaders(headers, prefix);
  } catch (error) {
    throw new S3Error("InvalidArgument", (error as Error).message);
  }
}

/**
 * The deployed service refuses what RFC 9110 lets a server ignore.
 *
 * @throws S3Error for a header that names no range, or several
 */
export function parseRange(header: string): RangeRequest {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(header.trim());
  if (match === null) {
    throw new S3Error(
      "InvalidArgument",
      // The quote at the end is the deployed service's.
      "range must be in format 'bytes=start-end', 'bytes=start-' or 'bytes=-suffix'.'",
    );
  }
  const [, first, last, suffix] = match;
  if (suffix !== undefined) return { suffix: safe(suffix) };
  if (last === "") return { offset: safe(first as string) };
  return rangeBetween(first as string, last as string, "range");
}

export function parseCopyRange(header: string): ByteRange {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  if (first === undefined || last === undefined) {
    throw new S3Error("InvalidArgument", `Invalid x-amz-copy-source-range: ${header}`);
  }
  return rangeBetween(first, last, "x-amz-copy-source-range");
}

function rangeBetween(first: string, last: string, name: string): ByteRange {
  const offset = safe(first);
  const length = safe(last) - offset + 1;
  if (length < 1) throw new S3Error("InvalidArgument", `${name} must be positive.`);
  return { offset, length };
}

/** No object is as large as the largest safe integer. */
function safe(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}

/** @throws S3Error for a number that no part can have */
export function parsePartNumber(parameters: Values): number {
  const text = parameters.get("partNumber")?.trim() ?? "";
  const number = text === "" ? NaN : Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= partNumberMax) return number;
  throw new S3Error(
    "InvalidArgument",
    `Part number must be an integer between 1 and ${partNumberMax}, inclusive.`,
  );
}

/** Objects have one version, whose id is `null` (as in a bucket of AWS without versions). */
export function requireOnlyVersion(versionId: string | null | undefined): void {
  if ((versionId ?? "null") !== "null") throw new S3Error("NoSuchVersion");
}

/**
 * The object that a request copies: `x-amz-copy-source: /bucket/key?versionId=null`.
 *
 * @throws S3Error InvalidArgument, NoSuchVersion
 */
export function parseCopySource(header: string): { bucketName: string; key: string } {
  const [, path, version] = /^\/?(.*?)(?:\?versionId=([^?]*))?$/s.exec(header) as unknown as [
    string,
    string,
    string?,
  ];
  const source = decodeURIComponent(path);
  const separator = source.indexOf("/");
  if (separator < 1 || separator === source.length - 1) {
    throw new S3Error("InvalidArgument", "copy source bucket name");
  }
  requireOnlyVersion(version && decodeURIComponent(version));
  return { bucketName: source.slice(0, separator), key: source.slice(separator + 1) };
}
