/** Opens the source of a copy, and writes its content for another object. */
import type { S3ChecksumAlgorithm } from "../../store/core/checksum.ts";
import type { Content, DescribedObject, Request } from "../../store/core/operations.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import { allChecksums } from "../../store/core/object.ts";
import { s3Algorithms } from "../../http/headers.ts";
import { parseCopySource } from "../copy-source.ts";
import { parseSourceKey } from "../customer-key-headers.ts";
import type { CopiedObject, S3Bucket } from "../s3-bucket.ts";
import { S3Error } from "../s3-error.ts";
import { requireKeyOf } from "./required-key.ts";
import { requireOnlyVersion, type ObjectCall } from "./verb-call.ts";

/** @throws S3Error when there is no such object, or when its conditions do not hold */
export async function openSource(
  { request, buckets }: ObjectCall,
  options: Omit<Request<"get">, "method" | "key">,
): Promise<CopiedObject> {
  // Routes pass a call on only if there is a source.
  const source = parseCopySource(request.headers.get("x-amz-copy-source") as string);
  requireOnlyVersion(source.versionId);
  const customerKey = parseSourceKey(request.headers);
  const bucket = await buckets.find(source.bucketName);
  if (bucket === null) throw new S3Error("NoSuchBucket");
  const opened = await bucket.get({ key: source.key, ...options });
  if (opened === null) throw new S3Error("NoSuchKey");
  requireKeyOf(opened, customerKey);
  if (opened.status === "condition failed") throw new S3Error("PreconditionFailed");
  return { bucket, opened };
}

/**
 * Closes the source in any case.
 *
 * @param algorithms of the checksums of the copy
 */
export async function copyContent(
  source: CopiedObject,
  destination: S3Bucket,
  algorithms: readonly S3ChecksumAlgorithm[],
): Promise<Content> {
  const { range, content } = source.opened;
  try {
    if (range.length > uploadBytesMax) {
      throw new S3Error(
        "InvalidRequest",
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
          uploadBytesMax,
      );
    }
    return await destination.copy(source, algorithms);
  } finally {
    if (!(content instanceof Uint8Array)) content.close();
  }
}

/** A copy of an object has checksums of the same kinds as its source, of its whole content. */
export function algorithmsOf(object: DescribedObject): S3ChecksumAlgorithm[] {
  const checksums = allChecksums(object);
  return s3Algorithms.filter((algorithm) => checksums[algorithm] !== undefined);
}
