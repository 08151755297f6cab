/**
 * The base of every codec: the error of decoders, octets as a whole, and octets as text (UTF-8,
 * base64, and the quoted form of a character-string).
 */

/** Decoders throw this error when octets are malformed, and throw no other error. */
export class WireError extends Error {
  override name = "WireError";
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function isSameSecret(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) difference |= one[index]! ^ (other[index] ?? 0);
  return difference === 0;
}

/** Globals of every runtime; the pure folders are compiled without the types of a runtime. */
declare function atob(text: string): string;
declare function btoa(binary: string): string;
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  encoding: string,
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** `null` when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return null;
  }
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** RFC 4648 section 4, with padding; `null` when the text is not base64. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** RFC 1035 section 3.3: a character-string has one octet for its length. */
export const characterStringBytesMax = 255;

/** Controls and line separators are not printable: they would break a line of a zone file. */
const escapedPattern = /["\\\p{Cc}\p{Zl}\p{Zp}]/gu;

/**
 * The text form of a character-string (RFC 1035 section 5.1): `"` and `\` are escaped, octets that
 * are not printable become `\DDD`, and all other characters are written as UTF-8.
 */
export function quoteBytes(bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) return `"${escapeBytes(bytes)}"`;
  return `"${decoded.replaceAll(escapedPattern, (match) => escapeBytes(encodeUtf8(match)))}"`;
}

function escapeByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  if (byte >= 0x20 && byte < 0x7f) return String.fromCharCode(byte);
  return `\\${String(byte).padStart(3, "0")}`;
}

function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, escapeByte).join("");
}

/** Resolves the escapes between two quotation marks; `null` when an escape is malformed. */
export function unescapeBytes(text: string): Uint8Array | null {
  const parts: Uint8Array[] = [];
  for (const piece of text.match(/[^\\]+|\\\d{3}|\\[^]?/gu) ?? []) {
    if (piece[0] !== "\\") parts.push(encodeUtf8(piece));
    else if (piece.length === 1 || Number(piece.slice(1)) > 255) return null;
    else if (piece.length === 4) parts.push(Uint8Array.of(Number(piece.slice(1))));
    else parts.push(encodeUtf8(piece.slice(1)));
  }
  return concatBytes(parts);
}
