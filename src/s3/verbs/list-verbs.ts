/** ListObjects in both versions, and ListObjectVersions: pages of a bucket in the order of the keys. */
import { checksumTypeName, s3Algorithms, typeOf } from "../../http/headers.ts";
import { encodeComponent } from "../../http/uri.ts";
import { writeXml, type XmlElements } from "../../http/xml.ts";
import { decodeCursor, encodeCursor } from "../../store/core/list-page.ts";
import { StoreError } from "../../store/core/errors.ts";
import { compareKeys } from "../../store/core/key.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import { decodeObjects, allChecksums } from "../../store/core/object.ts";
import type { ListRequest, ObjectRecord } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { S3Error } from "../s3-errors.ts";
import { owner, xmlResponse, type S3Request, type BucketVerbFunction } from "../s3-message.ts";
import { storageClassName } from "../object-headers.ts";

export const listObjects: BucketVerbFunction = async (request, bucket) => {
  const { parameters } = request;
  const marker = parameters.get("marker") ?? "";
  const options = parseOptions(parameters);
  const page = await readPage(bucket, options, markerPosition(marker, options));
  const { encode } = options;
  return xmlResponse(
    writeXml("ListBucketResult", {
      Name: request.bucketName,
      Contents: page.objects.map((object) => objectElements(object, encode, true)),
      ...commonElements(options, page),
      Marker: encode(marker),
      NextMarker: page.isTruncated && page.last !== undefined ? encode(page.last) : undefined,
    }),
  );
};

export const listObjectsV2: BucketVerbFunction = async (request, bucket) => {
  const { parameters } = request;
  const token = parameters.get("continuation-token");
  const startAfter = parameters.get("start-after");
  const options = parseOptions(parameters);
  const page = await readPage(bucket, options, {
    ...markerPosition(startAfter ?? "", options),
    // An empty token is the start, as for the binding.
    ...(token && { cursor: token }),
  });
  const { encode } = options;
  const withOwner = parameters.get("fetch-owner") === "true";
  return xmlResponse(
    writeXml("ListBucketResult", {
      Name: request.bucketName,
      Contents: page.objects.map((object) => objectElements(object, encode, withOwner)),
      ...commonElements(options, page),
      StartAfter: startAfter === undefined ? undefined : encode(startAfter),
      ContinuationToken: token,
      NextContinuationToken: page.isTruncated ? page.cursor : undefined,
      KeyCount: page.objects.length + page.prefixes.length,
    }),
  );
};

/** Every object has one version. Deviation: the deployed service does not implement this. */
export const listObjectVersions: BucketVerbFunction = async (request, bucket) => {
  const { parameters } = request;
  const marker = parameters.get("key-marker") ?? "";
  const options = parseOptions(parameters);
  const page = await readPage(bucket, options, markerPosition(marker, options));
  const { encode } = options;
  const next = page.isTruncated ? page.last : undefined;
  return xmlResponse(
    writeXml("ListVersionsResult", {
      Name: request.bucketName,
      Version: page.objects.map((object) => ({
        ...objectElements(object, encode, true),
        VersionId: "null",
        IsLatest: true,
      })),
      ...commonElements(options, page),
      KeyMarker: encode(marker),
      VersionIdMarker: parameters.get("version-id-marker") ?? "",
      NextKeyMarker: next === undefined ? undefined : encode(next),
      NextVersionIdMarker: next === undefined ? undefined : "null",
    }),
  );
};

type Encode = (text: string) => string;

interface ListOptions {
  readonly prefix: string;
  readonly delimiter: string;
  /** As the client has written it, for the answer; the page has at most `listLimitMax` items. */
  readonly maxKeys: number;
  readonly encodingType: string | undefined;
  readonly encode: Encode;
}

interface Page {
  readonly objects: readonly ObjectRecord[];
  readonly prefixes: readonly string[];
  readonly isTruncated: boolean;
  readonly cursor?: string;
  /** The last key or prefix of the page. */
  readonly last: string | undefined;
}

function parseOptions(parameters: S3Request["parameters"]): ListOptions {
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
export function encoderOf(encodingType: string | undefined): Encode {
  if (encodingType === undefined || encodingType === "") return (text) => text;
  if (encodingType.toLowerCase() === "url") return encodeComponent;
  throw new S3Error(
    "NotImplemented",
    `Unrecognized encoding-type "${encodingType}" not implemented`,
  );
}

/** The deployed service rounds down, and accepts 0 and numbers above the limit. */
function parseMaxKeys(text: string | undefined): number {
  if (text === undefined) return listLimitMax;
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
  bucket: Bucket,
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
    return { objects: [], prefixes: [], isTruncated, last: undefined };
  }
  return {
    objects,
    prefixes,
    isTruncated: cursor !== undefined,
    cursor,
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

function laterKey(key: string | undefined, prefix: string | undefined): string | undefined {
  if (key === undefined || prefix === undefined) return key ?? prefix;
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
    ChecksumType: algorithms.length === 0 ? undefined : checksumTypeName(typeOf(checksums)),
    Size: object.size,
    Owner: withOwner ? owner : undefined,
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
    Delimiter: delimiter === "" ? undefined : encode(delimiter),
    MaxKeys: maxKeys,
    EncodingType: encodingType || undefined,
  };
}
