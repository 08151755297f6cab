/**
 * The `Range` header (RFC 9110, section 14).
 *
 * One range is answered. Several at once are allowed to be ignored, and are: clients that ask for
 * them have to take the whole content too. So is whatever is not a range of bytes.
 */

export interface ByteRange {
  offset: number;
  length: number;
}

/** The bytes that `header` asks for, of a content of `size` bytes. */
export function resolveRange(header: string, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (match === null) return "whole";
  const [first, last] = [match[1] as string, match[2] as string];

  if (first === "") {
    if (last === "") return "whole";
    const length = Math.min(Number(last), size);
    if (Number(last) === 0) return "unsatisfiable";
    // The last bytes of nothing are nothing, which Content-Range has no way to say.
    return size === 0 ? "whole" : { offset: size - length, length };
  }

  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return "whole";
  if (offset >= size) return "unsatisfiable";
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return { offset, length: end - offset };
}

/** `Content-Range` of an answer that carries `range`, or that could not. */
export function contentRange(range: ByteRange | "unsatisfiable", size: number): string {
  if (range === "unsatisfiable") return `bytes */${size}`;
  return `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`;
}
