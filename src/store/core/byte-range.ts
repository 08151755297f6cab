/**
 * Byte ranges: what was asked for, and what it comes to for an object of a given size.
 */
import { StoreError } from "./errors.ts";

/** A range as the caller gave it: numbers, or the text of a `Range` header. */
export type RangeRequest =
  | { readonly offset?: number; readonly length?: number; readonly suffix?: never }
  | { readonly suffix: number; readonly offset?: never; readonly length?: never }
  | { readonly header: string };

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * Checks the numbers of a range before anything is read.
 *
 * @throws RangeError for a negative or fractional number
 * @throws TypeError for a suffix beside an offset or a length
 */
export function validateRange(range: {
  offset?: number | undefined;
  length?: number | undefined;
  suffix?: number | undefined;
}): RangeRequest {
  const { offset, length, suffix } = range;
  if (offset !== undefined) requireWhole(offset, "Invalid range. Starting offset");
  if (length !== undefined) requireWhole(length, "Invalid range. Length");
  if (suffix === undefined) {
    return {
      ...(offset !== undefined && { offset: finite(offset) }),
      ...(length !== undefined && { length: finite(length) }),
    };
  }
  if (offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
  if (length !== undefined) throw new TypeError("Suffix is incompatible with length.");
  requireWhole(suffix, "Invalid suffix. Suffix", "Invalid range. Suffix");
  return { suffix: finite(suffix) };
}

/**
 * The bytes that `request` means in an object of `size` bytes.
 *
 * @throws StoreError 10039 when an explicit range holds no byte of the object. A header that is
 *   malformed, names several ranges or cannot be satisfied serves the whole object instead
 *   (RFC 7233 section 3.1 lets a server ignore it).
 */
export function resolveRange(request: RangeRequest | undefined, size: number): ByteRange {
  const whole = { offset: 0, length: size };
  if (request === undefined) return whole;
  if ("header" in request) return parseRangeHeader(request.header, size) ?? whole;

  if (request.suffix !== undefined) {
    const length = Math.min(request.suffix, size);
    if (length === 0) throw new StoreError(10039);
    return { offset: size - length, length };
  }
  // Deviation: `{}` is the whole object, of an empty one too.
  if (request.offset === undefined && request.length === undefined) return whole;
  const offset = request.offset ?? 0;
  const length = Math.min(request.length ?? Infinity, size - offset);
  if (offset >= size || length <= 0) throw new StoreError(10039);
  return { offset, length };
}

/** The one satisfiable range of a `Range` header, or `null`. */
function parseRangeHeader(header: string, size: number): ByteRange | null {
  const match = /^\s*bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i.exec(header);
  if (match === null) return null;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? null : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last ? Number(last) : Infinity;
  if (end < offset || offset >= size) return null;
  return { offset, length: Math.min(end, size - 1) - offset + 1 };
}

function requireWhole(value: number, subject: string, subjectIfFractional = subject): void {
  if (!(value >= 0)) {
    throw new RangeError(
      `${subject} (${platformNumber(value)}) must be greater than or equal to 0.`,
    );
  }
  if (value !== Infinity && !Number.isInteger(value)) {
    throw new RangeError(
      `${subjectIfFractional} (${value}) must be an integer, not floating point.`,
    );
  }
}

/** JSON, by which a request may travel, has no infinity; and no object is this large. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

/** The platform is written in another language, and so are its numbers. */
function platformNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return value === -Infinity ? "-inf" : String(value);
}
