/** The check of content before an operation writes. */
import { verifyChecksum, type Checksums, type ExpectedChecksum } from "./checksum.ts";
import { inlineBytesMax } from "./limits.ts";
import { validateUploadSize } from "./multipart.ts";
import type { Content } from "./operations.ts";

/** Content whose size and hash are valid. */
export interface CheckedContent {
  readonly content: Content;
  readonly size: number;
  readonly checksums: Checksums;
}

/**
 * Checks content before anything is written.
 *
 * @param bytesMax the largest content that needs no blob: a bucket on an S3 service has no database
 * @throws StoreError 10037 when the content has another hash than expected, 100100 when it is too
 *   large
 */
export function checkContent(
  content: Content,
  expected?: ExpectedChecksum,
  bytesMax: number = inlineBytesMax,
): CheckedContent {
  const { checksums } = content;
  const size = "blob" in content ? content.size : content.bytes.length;
  if ("bytes" in content && size > bytesMax) {
    throw new Error(`Cannot store ${size} bytes in the database: write a blob first`);
  }
  validateUploadSize(size);
  verifyChecksum(expected, checksums);
  return { content, size, checksums };
}
