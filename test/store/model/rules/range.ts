/** `range` as an object and as a `Range` header (RFC 7233, section 2.1). */
import type { Options } from "./arguments.ts";
import { fieldError, storeError } from "./errors.ts";

export type RequestedRange =
  | { readonly header: string }
  | {
      readonly offset?: number | undefined;
      readonly length?: number | undefined;
      readonly suffix?: number | undefined;
    };

export interface Span {
  readonly offset: number;
  readonly length: number;
}

export function readRange(value: unknown): RequestedRange {
  if (value === undefined || value === null) return {};
  if (value instanceof Headers) return { header: value.get("range") ?? "" };
  if (typeof value !== "object") {
    throw fieldError("range", { on: "GetOptions", type: "Range or Headers" });
  }
  const fields = value as Options;
  const offset = readInteger(fields["offset"], ["range", "Starting offset"]);
  const length = readInteger(fields["length"], ["range", "Length"]);
  if (fields["suffix"] === undefined) return { offset, length };
  if (offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
  if (length !== undefined) throw new TypeError("Suffix is incompatible with length.");
  return { suffix: readInteger(fields["suffix"], ["suffix", "Suffix"]) };
}

function readInteger(value: unknown, [what, name]: [string, string]): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (number < 0) {
    throw new RangeError(
      `Invalid ${what}. ${name} (${number}) must be greater than or equal to 0.`,
    );
  }
  if (!Number.isInteger(number)) {
    throw new RangeError(
      `Invalid range. ${name} (${number}) must be an integer, not floating point.`,
    );
  }
  return number;
}

/** The requested bytes of an object of `size` bytes; error 10039 if there are none. */
export function spanOf(requested: RequestedRange, size: number): Span {
  const whole = { offset: 0, length: size };
  if ("header" in requested) return spanOfHeader(requested.header, size) ?? whole;
  const { offset, length, suffix } = requested;
  if (offset === undefined && length === undefined && suffix === undefined) return whole;
  const start = suffix === undefined ? (offset ?? 0) : Math.max(0, size - suffix);
  const end = Math.min(size, start + (length ?? size));
  if (end <= start) throw storeError("get", 10039);
  return { offset: start, length: end - start };
}

/** Undefined for an ignored header: malformed, with several ranges, or unsatisfiable. */
function spanOfHeader(header: string, size: number): Span | undefined {
  const match = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") {
    const start = Math.max(0, size - Number(last));
    return start < size ? { offset: start, length: size - start } : undefined;
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(size, Number(last) + 1);
  return start < end ? { offset: start, length: end - start } : undefined;
}
