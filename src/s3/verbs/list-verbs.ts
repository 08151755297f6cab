/** ListObjects in both versions, and ListObjectVersions: pages of a bucket in the order of the keys. */
import { algorithmsOf, checksumTypeOf } from "../../http/headers.ts";
import { encodeComponent } from "../../http/uri.ts";
import type { XmlElements } from "../../http/xml.ts";
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

export const listVerbs = {
  async ListObjects(request, bucket) {
    const marker = request.parameters.get("marker") ?? "";
    const { objects, last, elements, encode } = await readPage(request, bucket, marker);
    return xmlResponse("ListBucketResult", {
      Name: request.bucketName,
      Contents: objects.map((object) => objectElements(object, encode, true)),
      ...elements,
      Marker: encode(marker),
      NextMarker: last && encode(last),
    });
  },

  async ListObjectsV2(request, bucket) {
    const { parameters } = request;
    const token = parameters.get("continuation-token");
    const startAfter = parameters.get("start-after");
    const page = await readPage(request, bucket, startAfter ?? "", token);
    const withOwner = parameters.get("fetch-owner") === "true";
    return xmlResponse("ListBucketResult", {
      Name: request.bucketName,
      Contents: page.objects.map((object) => objectElements(object, page.encode, withOwner)),
      ...page.elements,
      StartAfter: startAfter && page.encode(startAfter),
      ContinuationToken: token,
      NextContinuationToken: page.cursor,
      KeyCount: page.objects.length + page.prefixes.length,
    });
  },

  /** Every object has one version. Deviation: the deployed service does not implement this. */
  async ListObjectVersions(request, bucket) {
    const marker = request.parameters.get("key-marker") ?? "";
    const { objects, last, elements, encode } = await readPage(request, bucket, marker);
    return xmlResponse("ListVersionsResult", {
      Name: request.bucketName,
      Version: objects.map((object) => ({
        ...objectElements(object, encode, true),
        VersionId: "null",
        IsLatest: true,
      })),
      ...elements,
      KeyMarker: encode(marker),
      VersionIdMarker: request.parameters.get("version-id-marker") ?? "",
      NextKeyMarker: last && encode(last),
      NextVersionIdMarker: last && "null",
    });
  },
} satisfies Record<string, BucketVerbFunction>;

type Encode = (text: string) => string;

/** @param token of the page before; an empty token is the start, as for the binding */
async function readPage(
  { parameters }: S3Request,
  bucket: Bucket,
  marker: string,
  token?: string,
): Promise<{
  readonly objects: readonly ObjectRecord[];
  readonly prefixes: readonly string[];
  /** Where the next page begins; `undefined` when no page follows. */
  readonly cursor?: string;
  /** The last key or prefix of a page that is followed by another. */
  readonly last?: string;
  /** The elements that all lists have. */
  readonly elements: XmlElements;
  readonly encode: Encode;
}> {
  const prefix = parameters.get("prefix") ?? "";
  const delimiter = parameters.get("delimiter") ?? "";
  const maxKeys = parseMaxKeys(parameters.get("max-keys"));
  const encodingType = parameters.get("encoding-type");
  const encode = encoderOf(encodingType);
  if (token) validateToken(token);
  // Deviation: as on AWS, a page of 0 keys is the last. On the deployed service it says whether there are
  // keys, and a client that goes on until the end never comes to it.
  const found =
    maxKeys === 0
      ? { objectsJson: "[]", prefixes: [], cursor: undefined }
      : await bucket.call({
          method: "list",
          prefix,
          delimiter,
          ...markerPosition(marker, prefix, delimiter),
          ...(token && { cursor: token }),
          limit: Math.min(maxKeys, listLimitMax),
          includeHttp: false,
          includeCustom: false,
        });
  const objects = decodeObjects(found.objectsJson, { http: false, custom: false });
  const { prefixes, cursor } = found;
  return {
    objects,
    prefixes,
    cursor,
    last: cursor && laterKey(objects.at(-1)?.key, prefixes.at(-1)),
    elements: {
      IsTruncated: cursor !== undefined,
      CommonPrefixes: prefixes.map((each) => ({ Prefix: encode(each) })),
      Prefix: encode(prefix),
      Delimiter: delimiter === "" ? undefined : encode(delimiter),
      MaxKeys: maxKeys,
      EncodingType: encodingType || undefined,
    },
    encode,
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
  prefix: string,
  delimiter: string,
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

/** @throws S3Error InvalidArgument for a token that no page had */
function validateToken(token: string): void {
  try {
    decodeCursor(token);
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
  return {
    Key: encode(object.key),
    LastModified: new Date(object.uploaded).toISOString(),
    ETag: `"${object.etag}"`,
    ChecksumAlgorithm: algorithmsOf(checksums).map((algorithm) => algorithm.toUpperCase()),
    ChecksumType: checksumTypeOf(checksums),
    Size: object.size,
    Owner: withOwner ? owner : undefined,
    StorageClass: storageClassName(object.storageClass),
  };
}
