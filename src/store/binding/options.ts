/** The options of the binding's methods: from the script's objects to the bucket's requests. */
import { decodeHex } from "../../base/hex.ts";
import { validateRange, type RangeRequest } from "../core/byte-range.ts";
import {
  hashAlgorithms,
  parseChecksum,
  type HashAlgorithm,
  type ExpectedChecksum,
} from "../core/checksum.ts";
import {
  customerKeyBytes,
  type KeyHolder,
  httpMetadataFields,
  httpMetadataFromHeaders,
  type CustomMetadata,
  type HttpMetadata,
} from "../core/metadata.ts";
import { parseEtag, parseEtagHeader, type Conditional } from "../core/conditional.ts";
import { md5 } from "../core/hash.ts";
import type { ObjectDescription, StorageClass, BucketSettings } from "../core/operations.ts";
import {
  dateField,
  fieldError,
  isHeaders,
  isObject,
  textField,
  toNumber,
  toText,
  argumentError,
  parameterError,
} from "./arguments.ts";
import type { Value } from "../client/bucket-calls.ts";

type Options = Record<string, unknown>;

export function conditionalOption(options: Options, struct: string): Conditional | undefined {
  const { onlyIf } = options;
  if (onlyIf === undefined || onlyIf === null) return undefined;
  if (isHeaders(onlyIf)) return conditionalFromHeaders(onlyIf);
  if (!isObject(onlyIf)) throw fieldError(struct, "onlyIf", "Conditional or Headers");

  const etagMatches = textField(onlyIf, "Conditional", "etagMatches");
  const etagDoesNotMatch = textField(onlyIf, "Conditional", "etagDoesNotMatch");
  const uploadedBefore = dateField(onlyIf, "Conditional", "uploadedBefore");
  const uploadedAfter = dateField(onlyIf, "Conditional", "uploadedAfter");
  return {
    etagMatches: etagMatches === undefined ? undefined : [parseEtag(etagMatches)],
    etagDoesNotMatch: etagDoesNotMatch === undefined ? undefined : [parseEtag(etagDoesNotMatch)],
    uploadedBefore,
    uploadedAfter,
    secondsGranularity: Boolean(onlyIf["secondsGranularity"]),
  };
}

function conditionalFromHeaders(headers: Headers): Conditional {
  const ifMatch = headers.get("if-match");
  const ifNoneMatch = headers.get("if-none-match");
  return {
    etagMatches: ifMatch === null ? undefined : parseEtagHeader("if-match", ifMatch),
    etagDoesNotMatch:
      ifNoneMatch === null ? undefined : parseEtagHeader("if-none-match", ifNoneMatch),
    uploadedBefore: dateHeader(headers, "if-unmodified-since"),
    uploadedAfter: dateHeader(headers, "if-modified-since"),
    secondsGranularity: true,
  };
}

/**
 * Deviation: an invalid date is ignored (RFC 7232 sections 3.3 and 3.4).
 *
 * Deviation: a date before 1970 is compared as it is. The platform takes it for a date in the distant
 * future.
 */
function dateHeader(headers: Headers, name: string): number | undefined {
  const time = Date.parse(headers.get(name) ?? "");
  return Number.isNaN(time) ? undefined : time;
}

export function rangeOption(options: Options): RangeRequest | undefined {
  const { range } = options;
  if (range === undefined || range === null) return undefined;
  if (isHeaders(range)) {
    const header = range.get("range");
    return header === null ? undefined : { header };
  }
  if (!isObject(range)) throw fieldError("GetOptions", "range", "Range or Headers");
  return validateRange({
    offset: numberField(range["offset"]),
    length: numberField(range["length"]),
    suffix: numberField(range["suffix"]),
  });
}

function numberField(value: unknown): number | undefined {
  return value === undefined || value === null ? undefined : toNumber(value);
}

function checksumOption(options: Options): ExpectedChecksum<HashAlgorithm> | undefined {
  let expected: ExpectedChecksum<HashAlgorithm> | undefined;
  for (const algorithm of Object.keys(hashAlgorithms) as HashAlgorithm[]) {
    const value = options[algorithm];
    if (value === undefined) continue;
    if (expected !== undefined) {
      throw new TypeError("You cannot specify multiple hashing algorithms.");
    }
    const hash = typeof value === "string" ? value : viewOf(value);
    if (hash === null) throw fieldError("PutOptions", algorithm, "BufferSource or string");
    expected = parseChecksum(algorithm, hash);
  }
  return expected;
}

/** The bytes of a buffer or a view, or `null`. */
function viewOf(value: unknown): Uint8Array | null {
  if (value instanceof ArrayBuffer) {
    return value.detached ? new Uint8Array() : new Uint8Array(value);
  }
  if (!ArrayBuffer.isView(value)) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function httpMetadataOption(options: Options, struct: string): HttpMetadata {
  const { httpMetadata } = options;
  if (httpMetadata === undefined || httpMetadata === null) return {};
  if (isHeaders(httpMetadata)) return httpMetadataFromHeaders(httpMetadata);
  if (!isObject(httpMetadata)) throw fieldError(struct, "httpMetadata", "HttpMetadata or Headers");

  const metadata: { -readonly [Field in keyof HttpMetadata]: HttpMetadata[Field] } = {};
  for (const field of httpMetadataFields) {
    const value = httpMetadata[field];
    if (value !== undefined) metadata[field] = toText(value);
  }
  const cacheExpiry = dateField(httpMetadata, "HttpMetadata", "cacheExpiry");
  if (cacheExpiry !== undefined) metadata.cacheExpiry = cacheExpiry;
  return metadata;
}

function customMetadataOption(options: Options, struct: string): CustomMetadata {
  const { customMetadata } = options;
  if (customMetadata === undefined) return {};
  if (!isObject(customMetadata) || Array.isArray(customMetadata)) {
    throw fieldError(struct, "customMetadata", "object");
  }
  return Object.fromEntries(
    Object.entries(customMetadata).map(([name, value]) => [name.toWellFormed(), toText(value)]),
  );
}

/** Deviation: an unknown storage class is refused. */
function storageClassOption(options: Options): StorageClass | undefined {
  const { storageClass } = options;
  if (storageClass === undefined) return undefined;
  const text = toText(storageClass);
  if (text === "Standard" || text === "InfrequentAccess") return text;
  throw new TypeError(
    `Invalid storage class "${text}": give "Standard" or "InfrequentAccess", or leave it out.`,
  );
}

/** The key for encryption (`ssecKey`): checked as the platform does, and known by its hash from then on. */
export function customerKeyOption({ ssecKey: key }: Options): KeyHolder {
  if (key === undefined) return noKey;
  const bytes = keyBytes(key);
  if (bytes.length === customerKeyBytes) return { ssecKeyMd5: md5(bytes) };
  throw new Error(`SSE-C Key must be ${customerKeyBytes} bytes in length`);
}

const noKey: KeyHolder = {};

function keyBytes(key: unknown): Uint8Array {
  const bytes = viewOf(key);
  if (bytes !== null) return bytes;
  const text = toText(key);
  if (!/^[0-9a-f]+$/.test(text)) throw new Error("SSE-C Key has invalid format");
  // An odd digit makes the key too short or too long.
  return decodeHex(text) ?? new Uint8Array();
}

/** The options of put. */
export function putOptions(options: Options, settings: Pick<BucketSettings, "storageClass">) {
  const onlyIf = conditionalOption(options, "PutOptions");
  const checksum = checksumOption(options);
  return { onlyIf, checksum, ...descriptionOptions(options, "PutOptions", settings) };
}

export function descriptionOptions(
  options: Options,
  struct: string,
  settings: Pick<BucketSettings, "storageClass">,
): ObjectDescription {
  const key = customerKeyOption(options);
  return {
    custom: customMetadataOption(options, struct),
    http: httpMetadataOption(options, struct),
    storageClass: storageClassOption(options) ?? settings.storageClass,
    ...key,
  };
}

/** The types of a value, in the platform's error messages. */
export const valueTypes = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

const encoder = new TextEncoder();

/**
 * Copies the bytes of a value, so that later changes by the script are not stored.
 *
 * @throws TypeError for a value that cannot be stored
 */
export function toValue(
  value: unknown,
  method: string,
  { allowUnsizedStreams }: BucketSettings,
): Value {
  if (typeof value === "string") return { bytes: encoder.encode(value) };
  if (value instanceof ArrayBuffer) {
    requireAttached(value, method);
    return { bytes: new Uint8Array(value.slice(0)) };
  }
  if (value instanceof SharedArrayBuffer) return { bytes: new Uint8Array(value).slice() };
  if (ArrayBuffer.isView(value)) {
    requireAttached(value.buffer, method);
    return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() };
  }
  if (value instanceof Blob) return { stream: value.stream(), length: value.size };
  if (value instanceof ReadableStream) {
    if (value.locked) throw new TypeError("The ReadableStream has been locked to a reader.");
    if (isDisturbed(value)) throw new TypeError("This ReadableStream is disturbed.");
    const length = streamLength(value);
    if (length === null && !allowUnsizedStreams) {
      throw new TypeError(
        "Provided readable stream must have a known length " +
          "(request/response body or readable half of FixedLengthStream)",
      );
    }
    return { stream: value, length };
  }
  throw argumentError(method, 2, valueTypes);
}

/**
 * The length of a stream, or `null` where the runtime does not know it.
 *
 * The runtime has no API for the length. It shows the length to its inspector through a symbol on
 * `ReadableStream.prototype`, and this function reads that symbol.
 */
function streamLength(stream: ReadableStream): number | null {
  if (lengthSymbol === undefined) return null;
  const length = (stream as unknown as Record<symbol, bigint | undefined>)[lengthSymbol];
  return length === undefined ? null : Number(length);
}

const lengthSymbol = Object.getOwnPropertySymbols(ReadableStream.prototype).find(
  (symbol) => symbol.description === "length",
);

/** Whether bytes of the stream have been read. Only a `Response` tells. */
function isDisturbed(stream: ReadableStream): boolean {
  try {
    return new Response(stream).bodyUsed;
  } catch {
    return true;
  }
}

/** Deviation: a detached buffer is refused. The platform stores it as an empty value. */
function requireAttached(buffer: ArrayBufferLike, method: string): void {
  if (!("detached" in buffer) || !buffer.detached) return;
  throw parameterError(method, 2, "a detached ArrayBuffer");
}
