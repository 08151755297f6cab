/**
 * The `Range` header (RFC 9110, section 14).
 *
 * The server answers one range. It ignores several ranges, as the RFC allows, and ranges in other
 * units than bytes: the response is then the whole content.
 */

export interface ByteRange {
  offset: number;
  length: number;
}

/** The bytes that `header` requests from a content of `size` bytes. */
export function resolveRange(header: string, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (match === null) return "whole";
  const [first, last] = [match[1] as string, match[2] as string];

  if (first === "") {
    if (last === "") return "whole";
    const length = Math.min(Number(last), size);
    if (Number(last) === 0) return "unsatisfiable";
    // Content-Range cannot express an empty range, so a suffix of an empty content is the whole.
    return size === 0 ? "whole" : { offset: size - length, length };
  }

  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return "whole";
  if (offset >= size) return "unsatisfiable";
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return { offset, length: end - offset };
}

/** `Content-Range` of a 206 response with `range`, or of a 416 response. */
export function contentRange(range: ByteRange | "unsatisfiable", size: number): string {
  if (range === "unsatisfiable") return `bytes */${size}`;
  return `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`;
}
