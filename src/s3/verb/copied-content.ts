/** Opens the source of a copy, and writes its content for another object. */
import type { Content, DescribedObject, Request } from "../../store/core/operations.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import { allChecksums } from "../../store/core/s3-checksums.ts";
import { s3Algorithms } from "../checksum-headers.ts";
import { parseCopySource } from "../copy-source.ts";
import type { OpenedObject, S3Bucket } from "../s3-bucket.ts";
import { S3Error } from "../s3-error.ts";
import { requireOnlyVersion, type ObjectCall } from "./verb-call.ts";

type OpenedSource = Extract<OpenedObject, { status: "found" }>;

/** @throws S3Error when there is no such object, or when its conditions do not hold */
export async function openSource(
  { request, buckets }: ObjectCall,
  options: Omit<Request<"get">, "method" | "key">,
): Promise<OpenedSource> {
  // Routes pass a call on only if there is a source.
  const source = parseCopySource(request.headers.get("x-amz-copy-source") as string);
  requireOnlyVersion(source.versionId);
  const bucket = await buckets.find(source.bucketName);
  if (bucket === null) throw new S3Error("NoSuchBucket");
  const opened = await bucket.get({ key: source.key, ...options });
  if (opened === null) throw new S3Error("NoSuchKey");
  if (opened.status === "condition failed") throw new S3Error("PreconditionFailed");
  return opened;
}

/** Closes the source in any case. */
export async function copyContent(
  { object, range, content }: OpenedSource,
  destination: S3Bucket,
): Promise<Content> {
  try {
    if (range.length > uploadBytesMax) {
      throw new S3Error(
        "InvalidRequest",
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
          uploadBytesMax,
      );
    }
    const chunks = content instanceof Uint8Array ? oneChunk(content) : content.chunks();
    return await destination.write(chunks, { algorithms: ["md5", ...algorithmsOf(object)] });
  } finally {
    if (!(content instanceof Uint8Array)) await content.close();
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** A copy has checksums of the same kinds as its source, of its whole content. */
function algorithmsOf(object: DescribedObject): (typeof s3Algorithms)[number][] {
  const checksums = allChecksums(object);
  return s3Algorithms.filter((algorithm) => checksums[algorithm] !== undefined);
}
