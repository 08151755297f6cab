/** Writes the body of a request as content that an operation stores. */
import type { Content } from "../store/core/operations.ts";
import type { S3ChecksumAlgorithm, ExpectedChecksum } from "../store/core/checksum.ts";
import { uploadBytesMax } from "../store/core/limits.ts";
import { StoreError } from "../store/core/errors.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Body } from "./s3-request.ts";

export interface ReceivedContent {
  readonly content: Content;
  /** The checksum that the client has sent: it is verified, and stored with the object. */
  readonly checksum?: ExpectedChecksum<S3ChecksumAlgorithm>;
}

/**
 * Receives a body. Everything that the client has said about the body is verified before the
 * promise resolves.
 */
export async function receiveContent(bucket: S3Bucket, body: S3Body): Promise<ReceivedContent> {
  if (body.length === null) throw new S3Error("MissingContentLength");
  if (body.length > uploadBytesMax) throw new StoreError(100100);
  const content = await bucket.write(body.chunks(), {
    algorithms: body.requiredAlgorithms,
    verify: (checksums) => body.verify(checksums),
  });
  const algorithm = body.checksumAlgorithm;
  const hex = algorithm === null ? undefined : content.checksums[algorithm];
  return algorithm === null || hex === undefined
    ? { content }
    : { content, checksum: { algorithm, hex } };
}
