/** Writes the body of a request as content that an operation stores. */
import type { Content } from "../store/core/operations.ts";
import {
  verifyChecksum,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
} from "../store/core/checksum.ts";
import { uploadBytesMax } from "../store/core/limits.ts";
import { StoreError } from "../store/core/errors.ts";
import { parseAnnouncedChecksums, parseChecksumHeader } from "./checksum-headers.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Body, S3Headers } from "./s3-request.ts";

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

/**
 * Writes the file of a form. The checksums are those of the fields.
 *
 * @param headers the fields as headers
 */
export async function writeFormContent(
  bucket: S3Bucket,
  file: AsyncIterable<Uint8Array>,
  headers: S3Headers,
): Promise<ReceivedContent> {
  const { md5 } = parseAnnouncedChecksums(headers);
  const checksum = parseChecksumHeader(headers);
  const content = await bucket.write(file, {
    algorithms: checksum === undefined ? ["md5"] : ["md5", checksum.algorithm],
    verify: (checksums) => {
      if (md5 !== null) verifyChecksum({ algorithm: "md5", hex: md5 }, checksums);
      if (checksum !== undefined) verifyChecksum(checksum, checksums);
    },
  });
  return checksum === undefined ? { content } : { content, checksum };
}
