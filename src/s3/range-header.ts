/** Ranges of bytes. The deployed service refuses what RFC 9110 lets a server ignore. */
import type { ByteRange, RangeRequest } from "../store/core/byte-range.ts";
import { S3Error } from "./s3-error.ts";

/** @throws S3Error for a header that names no range, or several */
export function parseRange(header: string): RangeRequest {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(header.trim());
  if (match === null) {
    throw new S3Error(
      "InvalidArgument",
      // The quote at the end is the deployed service's.
      "range must be in format 'bytes=start-end', 'bytes=start-' or 'bytes=-suffix'.'",
    );
  }
  const [, first, last, suffix] = match;
  if (suffix !== undefined) return { suffix: safe(suffix) };
  const offset = safe(first as string);
  if (last === "") return { offset };
  const length = safe(last as string) - offset + 1;
  if (length < 1) throw new S3Error("InvalidArgument", "range must be positive.");
  return { offset, length };
}

/** The range of the source of a part: both ends, and nothing else. */
export function parseCopyRange(header: string): ByteRange {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  if (first === undefined) {
    throw new S3Error("InvalidArgument", `Invalid x-amz-copy-source-range: ${header}`);
  }
  const offset = safe(first);
  const length = safe(last as string) - offset + 1;
  if (length < 1) {
    throw new S3Error("InvalidArgument", "x-amz-copy-source-range must be positive.");
  }
  return { offset, length };
}

export function contentRange({ offset, length }: ByteRange, size: number): string {
  return `bytes ${offset}-${offset + length - 1}/${size}`;
}

/** No object is as large as the largest safe integer. */
function safe(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
