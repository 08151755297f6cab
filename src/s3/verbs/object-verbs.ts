/** Verbs about one object, also as the source of a copy, and DeleteObjects. */
import { algorithmsOf, checksumElements, checksumHeaders } from "../../http/headers.ts";
import { childrenOf, childText, type XmlElement, type XmlElements } from "../../http/xml.ts";
import { resolveRange } from "../../store/core/byte-range.ts";
import type { S3ChecksumAlgorithm } from "../../store/core/checksum.ts";
import {
  conditionHolds,
  failedStatus,
  parseIfRange,
  type Conditional,
} from "../../store/core/conditional.ts";
import { requireSameKey, type KeyHolder, validateMetadata } from "../../store/core/metadata.ts";
import { StoreError } from "../../store/core/errors.ts";
import { validateKey } from "../../store/core/key.ts";
import { deleteKeysMax, uploadBytesMax } from "../../store/core/limits.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import type {
  Content,
  DescribedObject,
  ObjectDescription,
  Request,
} from "../../store/core/operations.ts";
import { closeContent, type Bucket, type OpenedObject } from "../../store/node/bucket.ts";
import { receiveContent } from "../request-body.ts";
import {
  parseConditions,
  parseCopySource,
  parsePartNumber,
  parseRange,
  requireOnlyVersion,
  customerKeyHeaders,
  notModified,
  objectResponse,
  parseCustomerKey,
  parseDescription,
  sourceKeyPrefix,
  type ShownObject,
} from "../object-headers.ts";
import { requireKey } from "../permissions.ts";
import { S3Error } from "../s3-errors.ts";
import {
  parseDocument,
  xmlResponse,
  type S3Request,
  type BucketVerbFunction,
  type S3Service,
} from "../s3-message.ts";

export const objectVerbs = {
  async PutObject(request, bucket, service) {
    const { key, headers, body } = request;
    const description = parseDescription(headers, usualClass(request, service));
    const onlyIf = parseConditions(headers);
    // All that is known is checked before the body is read.
    validateKey(key);
    validateMetadata(description.http, description.custom);
    const received = await receiveContent(bucket, body);
    const stored = await bucket.call({ method: "put", key, ...description, ...received, onlyIf });
    if (stored === null) throw new S3Error("PreconditionFailed");
    const object = decodeObject(key, stored);
    return {
      status: 200,
      headers: {
        etag: `"${object.etag}"`,
        ...checksumHeaders(allChecksums(object)),
        ...customerKeyHeaders(object),
      },
    };
  },

  async GetObject(request, bucket) {
    const { key, headers, parameters } = request;
    requireOnlyVersion(parameters.get("versionId"));
    const onlyIf = parseConditions(headers);
    const partNumber = requestedPart(request);
    const customerKey = parseCustomerKey(headers);
    const ranged = await openRange(request, bucket, onlyIf);
    const opened = ranged ?? (await bucket.get({ key, onlyIf, partNumber }));
    if (opened === null) throw new S3Error("NoSuchKey");
    requireKeyOf(opened, customerKey);
    if (opened.status === "found") {
      const isPartial = ranged !== null || partNumber !== undefined;
      return { ...objectResponse(request, { ...opened, isPartial }), body: opened.content };
    }
    // Only a read with conditions fails in this way.
    if (failedStatus(onlyIf ?? {}, opened.object) === 412) throw new S3Error("PreconditionFailed");
    return notModified(opened.object);
  },

  async HeadObject(request, bucket) {
    requireOnlyVersion(request.parameters.get("versionId"));
    const customerKey = parseCustomerKey(request.headers);
    const found = await findObject(request, bucket);
    if (found === null) throw new S3Error("NoSuchKey");
    requireSameKey(found.object, customerKey.ssecKeyMd5);
    const onlyIf = parseConditions(request.headers);
    if (onlyIf === undefined || conditionHolds(onlyIf, found.object)) {
      return objectResponse(request, found);
    }
    if (failedStatus(onlyIf, found.object) === 412) throw new S3Error("PreconditionFailed");
    return notModified(found.object);
  },

  /** No object has tags. Only in buckets with `s3_compatibility = "aws"`. */
  async GetObjectTagging({ key, parameters }, bucket) {
    requireOnlyVersion(parameters.get("versionId"));
    if ((await bucket.call({ method: "head", key })) === null) throw new S3Error("NoSuchKey");
    return xmlResponse("Tagging", { TagSet: "" });
  },

  async CopyObject(request, bucket, service) {
    const { key, headers } = request;
    const directive = headers.get("x-amz-metadata-directive") ?? "COPY";
    if (directive !== "COPY" && directive !== "REPLACE" && directive !== "MERGE") {
      throw new S3Error("InvalidArgument", `metadata directive ${directive}.`);
    }
    const given = parseDescription(headers, usualClass(request, service));
    // The conditions of the deployed service for the destination, and those of AWS.
    const onlyIf = parseConditions(headers, "cf-copy-destination-") ?? parseConditions(headers);
    validateKey(key);
    const source = { onlyIf: parseConditions(headers, "x-amz-copy-source-") };
    const { content, object: copied } = await copySource(request, bucket, service, source);
    const description = describeCopy(directive, copied, given);
    const stored = await bucket.call({ method: "put", key, ...description, content, onlyIf });
    if (stored === null) throw new S3Error("PreconditionFailed");
    const object = decodeObject(key, stored);
    return xmlResponse(
      "CopyObjectResult",
      {
        ETag: `"${object.etag}"`,
        LastModified: new Date(object.uploaded).toISOString(),
        ...checksumElements(allChecksums(object)),
      },
      customerKeyHeaders(object),
    );
  },

  async DeleteObject(request, bucket) {
    requireOnlyVersion(request.parameters.get("versionId"));
    const onlyIf = parseConditions(request.headers);
    await bucket.call({ method: "delete", keys: [request.key], onlyIf });
    return { status: 204 };
  },

  async DeleteObjects({ body, bucketName, permissions }, bucket) {
    const { objects, isQuiet } = parseDeletion(parseDocument(await body.document(), "Delete"));
    for (const { key } of objects) requireKey(permissions, { bucketName, key });
    const errors = new Map<NamedObject, XmlElements>();
    const plain: string[] = [];
    for (const object of objects) {
      try {
        requireOnlyVersion(object.versionId);
        validateKey(object.key);
        if (object.etag === null) plain.push(object.key);
        else await deleteWithTag(bucket, object.key, object.etag);
      } catch (error) {
        errors.set(object, errorElements(object, error));
      }
    }
    if (plain.length > 0) await bucket.call({ method: "delete", keys: plain });
    // Deviation: the deployed service lists what it has deleted even if the client has asked for silence.
    const listed = isQuiet ? [] : objects;
    return xmlResponse("DeleteResult", {
      Deleted: listed
        .filter((object) => !errors.has(object))
        .map(({ key, versionId }) => ({ Key: key, VersionId: versionId })),
      Error: [...errors.values()],
    });
  },
} satisfies Record<string, BucketVerbFunction>;

/**
 * Opens the range of the request. The bucket decides about `If-Range` when it reads the object, so the
 * range is that of the version which the client has.
 *
 * @returns `null` without a range, when `If-Range` does not hold, and when no object exists
 */
async function openRange(
  { key, headers }: S3Request,
  bucket: Bucket,
  onlyIf: Conditional | undefined,
): Promise<OpenedObject | null> {
  const header = headers.get("range");
  if (header === undefined) return null;
  const range = parseRange(header);
  const ifRange = parseIfRange(headers);
  const opened = await bucket.get({ key, range, onlyIf: ifRange ?? onlyIf });
  if (ifRange === undefined || opened === null) return opened;
  if (opened.status !== "found") return null;
  if (onlyIf === undefined || conditionHolds(onlyIf, opened.object)) return opened;
  closeContent(opened);
  return { status: "condition failed", object: opened.object };
}

/** As `requireSameKey()`, for the key of a customer (SSE-C). Closes the object when it throws. */
function requireKeyOf(opened: OpenedObject, customerKey: KeyHolder): void {
  try {
    requireSameKey(opened.object, customerKey.ssecKeyMd5);
  } catch (error) {
    if (opened.status === "found") closeContent(opened);
    throw error;
  }
}

/** @throws S3Error for a number that no part can have, and for a number beside a range */
function requestedPart({ headers, parameters }: S3Request): number | undefined {
  if (!parameters.has("partNumber")) return undefined;
  if (headers.has("range")) {
    throw new S3Error(
      "InvalidRequest",
      "Cannot specify both Range header and partNumber query parameter",
    );
  }
  return parsePartNumber(parameters);
}

async function findObject(request: S3Request, bucket: Bucket): Promise<ShownObject | null> {
  const { key, headers } = request;
  const partNumber = requestedPart(request);
  if (partNumber !== undefined) {
    const opened = await bucket.get({ key, partNumber });
    if (opened?.status !== "found") return null;
    closeContent(opened);
    return { ...opened, isPartial: true };
  }
  const header = headers.get("range");
  const asked = header === undefined ? undefined : parseRange(header);
  const text = await bucket.call({ method: "head", key });
  if (text === null) return null;
  const object = decodeObject(key, text);
  const range = conditionHolds(parseIfRange(headers) ?? {}, object) ? asked : undefined;
  return { object, range: resolveRange(range, object.size), isPartial: range !== undefined };
}

/** The storage class is never that of the source: a copy is a new object. */
export function usualClass({ bucketName }: S3Request, { settingsOf }: S3Service) {
  return settingsOf(bucketName)?.storageClass;
}

function describeCopy(
  directive: "COPY" | "REPLACE" | "MERGE",
  source: DescribedObject,
  given: ObjectDescription,
): ObjectDescription {
  if (directive === "REPLACE") return given;
  const isMerge = directive === "MERGE";
  return {
    ...given,
    http: { ...source.http, ...(isMerge && given.http) },
    custom: { ...source.custom, ...(isMerge && given.custom) },
  };
}

/**
 * Copies the content of the object that the request names, or a range of it.
 *
 * @param algorithms of the checksums of the copy. Default: those of the source
 * @throws S3Error when there is no such object, or when its conditions do not hold
 */
export async function copySource(
  { headers, permissions }: S3Request,
  destination: Bucket,
  { store }: S3Service,
  options: Omit<Request<"get">, "method" | "key">,
  algorithms?: readonly S3ChecksumAlgorithm[],
): Promise<{ readonly content: Content; readonly object: DescribedObject }> {
  // Routes lead here only if there is a source.
  const source = parseCopySource(headers.get("x-amz-copy-source") as string);
  requireKey(permissions, source);
  const { bucketName, key } = source;
  const customerKey = parseCustomerKey(headers, sourceKeyPrefix);
  const bucket = await store.find(bucketName);
  if (bucket === null) throw new S3Error("NoSuchBucket");
  const opened = await bucket.get({ key, ...options });
  if (opened === null) throw new S3Error("NoSuchKey");
  requireKeyOf(opened, customerKey);
  if (opened.status === "condition failed") throw new S3Error("PreconditionFailed");
  const { object, range } = opened;
  try {
    if (range.length > uploadBytesMax) {
      throw new S3Error(
        "InvalidRequest",
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
          uploadBytesMax,
      );
    }
    const kinds = algorithms ?? algorithmsOf(allChecksums(object));
    return { content: await destination.copy(opened, kinds), object };
  } finally {
    closeContent(opened);
  }
}

interface NamedObject {
  readonly key: string;
  readonly versionId: string | null;
  /** The object is deleted only if it has this entity tag. */
  readonly etag: string | null;
}

const namedObjectElements = new Set(["Key", "VersionId", "ETag"]);

/** @throws S3Error before anything is deleted, also for a condition that the store does not have */
function parseDeletion(root: XmlElement): {
  readonly objects: readonly NamedObject[];
  readonly isQuiet: boolean;
} {
  const elements = childrenOf(root, "Object");
  const other = elements
    .flatMap(({ children }) => children)
    .find(({ name }) => !namedObjectElements.has(name));
  if (other !== undefined) {
    throw new S3Error("NotImplemented", `DeleteObjects element ${other.name} not implemented`);
  }
  const objects = elements.map((element) => ({
    key: childText(element, "Key"),
    versionId: childText(element, "VersionId"),
    etag: childText(element, "ETag")?.trim() ?? null,
  }));
  const quiet = childText(root, "Quiet")?.trim().toLowerCase() ?? "false";
  const isValid =
    objects.length > 0 &&
    objects.length <= deleteKeysMax &&
    objects.every(({ key }) => key !== null) &&
    (quiet === "true" || quiet === "false");
  if (!isValid) throw new S3Error("MalformedXML");
  return { objects: objects as NamedObject[], isQuiet: quiet === "true" };
}

async function deleteWithTag(bucket: Bucket, key: string, etag: string): Promise<void> {
  const value = etag.replace(/^"(.*)"$/, "$1");
  const pattern = value === "*" ? ({ kind: "any" } as const) : ({ kind: "strong", value } as const);
  await bucket.call({ method: "delete", keys: [key], onlyIf: { etagMatches: [pattern] } });
}

function errorElements({ key, versionId }: NamedObject, error: unknown): XmlElements {
  if (!(error instanceof S3Error) && !(error instanceof StoreError)) throw error;
  const code = error instanceof S3Error ? error.code : error.s3Name;
  return { Key: key, VersionId: versionId, Code: code, Message: error.message };
}
