/** The `Range` header for a range that a caller asks for, and the range that an answer has. */
import type { ByteRange, RangeRequest } from "../core/byte-range.ts";

/**
 * The header, when a service reads the range as `resolveRange()` does, except for a range that holds no
 * byte of the object. Empty: the whole object, without a header. `null`: the size of the object decides.
 */
export function rangeHeader(range: RangeRequest | undefined): string | null {
  if (range === undefined) return "";
  if ("header" in range) return plainHeader(range.header);
  const { offset, length, suffix } = range;
  if (suffix !== undefined) return suffix > 0 ? `bytes=-${suffix}` : null;
  if (length === undefined) return offset === undefined ? "" : `bytes=${offset}-`;
  if (length === 0) return null;
  const first = offset ?? 0;
  // No object is as large: some services refuse a number that 64 bits cannot hold.
  const last = Math.min(first + length - 1, Number.MAX_SAFE_INTEGER);
  return last < first ? null : `bytes=${first}-${last}`;
}

/** A header of other form is ignored by `resolveRange()`, and perhaps refused by a service. */
function plainHeader(header: string): string | null {
  const [, first, last, suffix] =
    /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(header) ?? [];
  if (suffix !== undefined) return Number(suffix) > 0 ? header : null;
  if (first === undefined) return null;
  return last === undefined || Number(last) >= Number(first) ? header : null;
}

/** The range and the size of the object in a `Content-Range` header. */
export function parseContentRange(header: string | null): (ByteRange & { size: number }) | null {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? "") ?? [];
  if (first === undefined) return null;
  const offset = Number(first);
  return { offset, length: Number(last) - offset + 1, size: Number(size) };
}
