/** Verbs that copy an object, or a range of it, within the store: CopyObject and UploadPartCopy. */
import { algorithmsOf, checksumElements } from "../../http/headers.ts";
import type { S3ChecksumAlgorithm } from "../../store/core/checksum.ts";
import { validateKey } from "../../store/core/key.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import { decodeObject, allChecksums } from "../../store/core/object.ts";
import type {
  Content,
  DescribedObject,
  ObjectDescription,
  Request,
} from "../../store/core/operations.ts";
import { closeContent, type Bucket, type FoundObject } from "../../store/node/bucket.ts";
import {
  parseConditions,
  parseCopyRange,
  parseCopySource,
  parsePartNumber,
} from "../condition-headers.ts";
import { S3Error } from "../s3-errors.ts";
import {
  xmlResponse,
  type S3Request,
  type BucketVerbFunction,
  type S3Service,
} from "../s3-message.ts";
import {
  customerKeyHeaders,
  parseCustomerKey,
  parseDescription,
  sourceKeyPrefix,
} from "../object-headers.ts";
import { uploadOf } from "./multipart-verbs.ts";
import { requireKeyOf } from "./object-verbs.ts";

export const copyVerbs = {
  async CopyObject(request, bucket, service) {
    const { key, headers } = request;
    const directive = headers.get("x-amz-metadata-directive") ?? "COPY";
    if (directive !== "COPY" && directive !== "REPLACE" && directive !== "MERGE") {
      throw new S3Error("InvalidArgument", `metadata directive ${directive}.`);
    }
    const given = parseDescription(headers);
    // The conditions of the deployed service for the destination, and those of AWS.
    const onlyIf = parseConditions(headers, "cf-copy-destination-") ?? parseConditions(headers);
    validateKey(key);
    const sourceOnlyIf = parseConditions(headers, "x-amz-copy-source-");
    const source = await openSource(request, service, { onlyIf: sourceOnlyIf });
    const { object: copied } = source;
    const content = await copyContent(source, bucket, algorithmsOf(allChecksums(copied)));
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

  async UploadPartCopy(request, bucket, service) {
    const { headers } = request;
    const partNumber = parsePartNumber(request.parameters);
    const header = headers.get("x-amz-copy-source-range");
    const range = header === undefined ? undefined : parseCopyRange(header);
    const customerKey = parseCustomerKey(headers);
    const reference = uploadOf(request);
    const { upload } = await bucket.call({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 1,
    });
    const { checksumAlgorithm } = upload;
    const source = await openSource(request, service, { range });
    const algorithms = checksumAlgorithm === undefined ? [] : [checksumAlgorithm];
    const content = await copyContent(source, bucket, algorithms);
    const { etag } = await bucket.call({
      method: "uploadPart",
      ...reference,
      partNumber,
      content,
      ...customerKey,
    });
    return xmlResponse(
      "CopyPartResult",
      {
        ETag: `"${etag}"`,
        // The part was stored in this second; the operation does not say when.
        LastModified: new Date().toISOString(),
        ...checksumElements(content.checksums),
      },
      customerKeyHeaders(customerKey),
    );
  },
} satisfies Record<string, BucketVerbFunction>;

/** The storage class is never that of the source: a copy is a new object. */
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

/** @throws S3Error when there is no such object, or when its conditions do not hold */
async function openSource(
  { headers }: S3Request,
  { store }: S3Service,
  options: Omit<Request<"get">, "method" | "key">,
): Promise<FoundObject> {
  // Routes lead here only if there is a source.
  const { bucketName, key } = parseCopySource(headers.get("x-amz-copy-source") as string);
  const customerKey = parseCustomerKey(headers, sourceKeyPrefix);
  const bucket = await store.find(bucketName);
  if (bucket === null) throw new S3Error("NoSuchBucket");
  const opened = await bucket.get({ key, ...options });
  if (opened === null) throw new S3Error("NoSuchKey");
  requireKeyOf(opened, customerKey);
  if (opened.status === "condition failed") throw new S3Error("PreconditionFailed");
  return opened;
}

/**
 * Closes the source in any case.
 *
 * @param algorithms of the checksums of the copy
 */
async function copyContent(
  source: FoundObject,
  destination: Bucket,
  algorithms: readonly S3ChecksumAlgorithm[],
): Promise<Content> {
  try {
    if (source.range.length > uploadBytesMax) {
      throw new S3Error(
        "InvalidRequest",
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
          uploadBytesMax,
      );
    }
    return await destination.copy(source, algorithms);
  } finally {
    closeContent(source);
  }
}
