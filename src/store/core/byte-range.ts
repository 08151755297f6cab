/**
 * Byte ranges: as requested, and as resolved for an object of a given size.
 */
import { StoreError } from "./errors.ts";

/** A range as the caller gives it: numbers, or the text of a `Range` header. */
export type RangeRequest =
  | { readonly offset?: number; readonly length?: number; readonly suffix?: never }
  | { readonly suffix: number; readonly offset?: never; readonly length?: never }
  | { readonly header: string };

type NumericRange = Exclude<RangeRequest, { header: string }>;

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** @throws RangeError for a number, TypeError for a suffix beside an offset or a length */
export function validateRange(range: {
  offset?: number | undefined;
  length?: number | undefined;
  suffix?: number | undefined;
}): RangeRequest {
  const { offset, length, suffix } = range;
  if (offset !== undefined) requireWhole(offset, "Invalid range. Starting offset");
  if (length !== undefined) requireWhole(length, "Invalid range. Length");
  if (suffix === undefined) {
    return { offset: offset && finite(offset), length: length && finite(length) };
  }
  if (offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
  if (length !== undefined) throw new TypeError("Suffix is incompatible with length.");
  requireWhole(suffix, "Invalid suffix. Suffix", "Invalid range. Suffix");
  return { suffix: finite(suffix) };
}

/**
 * The bytes that `request` selects in an object of `size` bytes.
 *
 * @throws StoreError 10039, with the size, when a range of numbers holds no byte of the object. A header that is
 *   malformed, names several ranges or cannot be satisfied selects the whole object
 *   (RFC 7233 section 3.1 lets a server ignore such a header).
 */
export function resolveRange(request: RangeRequest | undefined, size: number): ByteRange {
  const whole = { offset: 0, length: size };
  if (request === undefined) return whole;
  if ("header" in request) {
    const range = parseRangeHeader(request.header);
    return (range && selectBytes(range, size)) ?? whole;
  }
  // Deviation: `{}` selects the whole object, also of size 0.
  if ((request.suffix ?? request.offset ?? request.length) === undefined) return whole;
  const selected = selectBytes(request, size);
  if (selected === null) throw new StoreError(10039, undefined, { objectSize: size });
  return selected;
}

/** `null` when the range holds no byte of the object. */
export function selectBytes({ suffix, ...range }: NumericRange, size: number): ByteRange | null {
  const offset = suffix === undefined ? (range.offset ?? 0) : Math.max(size - suffix, 0);
  const length = Math.min(range.length ?? Infinity, size - offset);
  return length > 0 ? { offset, length } : null;
}

/**
 * `Content-Range` of a response with a range of an object of `size` bytes; `null`: the range of the request
 * holds no byte of the object (RFC 9110 section 14.4).
 */
export function contentRange(range: ByteRange | null, size: number): string {
  if (range === null) return `bytes */${size}`;
  const { offset, length } = range;
  return `bytes ${offset}-${offset + length - 1}/${size}`;
}

/** The range of a `Range` header that names one range, or `null`. */
export function parseRangeHeader(header: string): NumericRange | null {
  const match = /^\s*bytes\s*=\s*(?:(\d+)\s*-\s*(\d*)|-\s*(\d+))\s*$/i.exec(header);
  if (match === null) return null;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) return { suffix: Number(suffix) };
  const offset = Number(first);
  return last ? { offset, length: Number(last) - offset + 1 } : { offset };
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

/** A request may travel as JSON, which has no infinity. No object is as large as the result. */
function finite(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

/** A number as the platform, which is written in C++, prints it. */
function platformNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return value === -Infinity ? "-inf" : String(value);
}
