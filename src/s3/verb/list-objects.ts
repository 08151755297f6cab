/** ListObjects in both versions, and ListObjectVersions: pages of a bucket in the order of the keys. */
import { encodeCursor, decodeCursor } from "../../store/core/list-page.ts";
import { StoreError } from "../../store/core/errors.ts";
import { compareKeys } from "../../store/core/key.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import { decodeObjects, allChecksums } from "../../store/core/object.ts";
import type { ListRequest, ObjectRecord } from "../../store/core/operations.ts";
import { s3Algorithms, checksumTypeName, typeOf } from "../../http/headers.ts";
import { storageClassName } from "../metadata-headers.ts";
import { S3Error } from "../s3-error.ts";
import { xmlResponse, type S3Parameters, type S3Response } from "../s3-request.ts";
import { encodeComponent } from "../../http/uri.ts";
import { writeXml, type XmlElements } from "../../http/xml.ts";
import { owner, type BucketCall } from "./verb-call.ts";

export async function listObjects(call: BucketCall): Promise<S3Response> {
  const { parameters } = call.request;
  const marker = parameters.get("marker") ?? "";
  const options = parseOptions(parameters);
  const page = await readPage(call, options, markerPosition(marker, options));
  const { encode } = options;
  return xmlResponse(
    writeXml("ListBucketResult", {
      Name: call.bucketName,
      Contents: page.objects.map((object) => objectElements(object, encode, true)),
      ...commonElements(options, page),
      Marker: encode(marker),
      NextMarker: page.isTruncated && page.last !== null ? encode(page.last) : null,
    }),
  );
}

export async function listObjectsV2(call: BucketCall): Promise<S3Response> {
  const { parameters } = call.request;
  const token = parameters.get("continuation-token");
  const startAfter = parameters.get("start-after");
  const options = parseOptions(parameters);
  const page = await readPage(call, options, {
    ...(startAfter !== null && markerPosition(startAfter, options)),
    // An empty token is the start, as for the binding.
    ...(token !== null && token !== "" && { cursor: token }),
  });
  const { encode } = options;
  const withOwner = parameters.get("fetch-owner") === "true";
  return xmlResponse(
    writeXml("ListBucketResult", {
      Name: call.bucketName,
      Contents: page.objects.map((object) => objectElements(object, encode, withOwner)),
      ...commonElements(options, page),
      StartAfter: startAfter === null ? null : encode(startAfter),
      ContinuationToken: token,
      NextContinuationToken: page.isTruncated ? (page.cursor ?? null) : null,
      KeyCount: page.objects.length + page.prefixes.length,
    }),
  );
}

/** Every object has one version. Deviation: the deployed service does not implement this. */
export async function listObjectVersions(call: BucketCall): Promise<S3Response> {
  const { parameters } = call.request;
  const marker = parameters.get("key-marker") ?? "";
  const options = parseOptions(parameters);
  const page = await readPage(call, options, markerPosition(marker, options));
  const { encode } = options;
  const hasNext = page.isTruncated && page.last !== null;
  return xmlResponse(
    writeXml("ListVersionsResult", {
      Name: call.bucketName,
      Version: page.objects.map((object) => ({
        ...objectElements(object, encode, true),
        VersionId: "null",
        IsLatest: true,
      })),
      ...commonElements(options, page),
      KeyMarker: encode(marker),
      VersionIdMarker: parameters.get("version-id-marker") ?? "",
      NextKeyMarker: hasNext ? encode(page.last) : null,
      NextVersionIdMarker: hasNext ? "null" : null,
    }),
  );
}

type Encode = (text: string) => string;

interface ListOptions {
  readonly prefix: string;
  readonly delimiter: string;
  /** As the client has written it, for the answer; the page has at most `listLimitMax` items. */
  readonly maxKeys: number;
  readonly encodingType: string | null;
  readonly encode: Encode;
}

interface Page {
  readonly objects: readonly ObjectRecord[];
  readonly prefixes: readonly string[];
  readonly isTruncated: boolean;
  readonly cursor?: string;
  /** The last key or prefix of the page. */
  readonly last: string | null;
}

function parseOptions(parameters: S3Parameters): ListOptions {
  const encodingType = parameters.get("encoding-type");
  return {
    prefix: parameters.get("prefix") ?? "",
    delimiter: parameters.get("delimiter") ?? "",
    maxKeys: parseMaxKeys(parameters.get("max-keys")),
    encodingType,
    encode: encoderOf(encodingType),
  };
}

/** @throws S3Error NotImplemented */
export function encoderOf(encodingType: string | null): Encode {
  if (encodingType === null || encodingType === "") return (text) => text;
  if (encodingType.toLowerCase() === "url") return encodeComponent;
  throw new S3Error(
    "NotImplemented",
    `Unrecognized encoding-type "${encodingType}" not implemented`,
  );
}

/** The deployed service rounds down, and accepts 0 and numbers above the limit. */
function parseMaxKeys(text: string | null): number {
  if (text === null) return listLimitMax;
  const number = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(number) || number < 0) throw new S3Error("InvalidMaxKeys");
  return Math.floor(number);
}

/**
 * Where a page after `marker` begins. A marker can be a prefix that the page before ended with: the
 * keys with this prefix would give the same prefix again, so the page begins after all of them.
 */
function markerPosition(
  marker: string,
  { prefix, delimiter }: ListOptions,
): Pick<ListRequest, "startAfter" | "cursor"> {
  if (marker === "") return {};
  const isPrefix =
    delimiter !== "" &&
    marker.startsWith(prefix) &&
    marker.indexOf(delimiter, prefix.length) === marker.length - delimiter.length;
  return isPrefix
    ? { cursor: encodeCursor({ kind: "prefix", text: marker }) }
    : { startAfter: marker };
}

async function readPage(
  { bucket }: BucketCall,
  { prefix, delimiter, maxKeys }: ListOptions,
  position: Pick<ListRequest, "startAfter" | "cursor">,
): Promise<Page> {
  validateCursor(position.cursor);
  const { objectsJson, prefixes, cursor } = await bucket.call({
    method: "list",
    prefix,
    delimiter,
    ...position,
    // A page of 0 items says whether there are any.
    limit: Math.min(Math.max(maxKeys, 1), listLimitMax),
    includeHttp: false,
    includeCustom: false,
  });
  const objects = decodeObjects(objectsJson, { http: false, custom: false });
  if (maxKeys === 0) {
    const isTruncated = objects.length > 0 || prefixes.length > 0;
    return { objects: [], prefixes: [], isTruncated, last: null };
  }
  return {
    objects,
    prefixes,
    isTruncated: cursor !== undefined,
    ...(cursor !== undefined && { cursor }),
    last: laterKey(objects.at(-1)?.key, prefixes.at(-1)),
  };
}

/** @throws S3Error InvalidArgument for a token that no page had */
function validateCursor(cursor: string | undefined): void {
  try {
    if (cursor !== undefined) decodeCursor(cursor);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new S3Error("InvalidArgument", "The continuation token provided is incorrect");
  }
}

function laterKey(key: string | undefined, prefix: string | undefined): string | null {
  if (key === undefined || prefix === undefined) return key ?? prefix ?? null;
  return compareKeys(key, prefix) > 0 ? key : prefix;
}

function objectElements(object: ObjectRecord, encode: Encode, withOwner: boolean): XmlElements {
  const checksums = allChecksums(object);
  const algorithms = s3Algorithms.filter((algorithm) => checksums[algorithm] !== undefined);
  return {
    Key: encode(object.key),
    LastModified: new Date(object.uploaded).toISOString(),
    ETag: `"${object.etag}"`,
    ChecksumAlgorithm: algorithms.map((algorithm) => algorithm.toUpperCase()),
    ChecksumType: algorithms.length === 0 ? null : checksumTypeName(typeOf(checksums)),
    Size: object.size,
    Owner: withOwner ? owner : null,
    StorageClass: storageClassName(object.storageClass),
  };
}

function commonElements(
  { prefix, delimiter, maxKeys, encodingType, encode }: ListOptions,
  { prefixes, isTruncated }: Page,
): XmlElements {
  return {
    IsTruncated: isTruncated,
    CommonPrefixes: prefixes.map((each) => ({ Prefix: encode(each) })),
    Prefix: encode(prefix),
    Delimiter: delimiter === "" ? null : encode(delimiter),
    MaxKeys: maxKeys,
    EncodingType: encodingType === "" ? null : encodingType,
  };
}
