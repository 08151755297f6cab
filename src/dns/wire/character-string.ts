/**
 * The text form of a character-string (RFC 1035 section 5.1): `"` and `\` are escaped, octets that
 * are not printable become `\DDD`, and all other characters are written as UTF-8.
 */
import { concatBytes, decodeUtf8, encodeUtf8 } from "./bytes.ts";

export const characterStringBytesMax = 255;

function escapeByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  if (byte >= 0x20 && byte < 0x7f) return String.fromCharCode(byte);
  return `\\${String(byte).padStart(3, "0")}`;
}

function escapeBytes(bytes: Uint8Array): string {
  return Array.from(bytes, escapeByte).join("");
}

/** Controls and line separators are not printable: they would break a line of a zone file. */
const escapedPattern = /["\\\p{Cc}\p{Zl}\p{Zp}]/gu;

export function quoteBytes(bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) return `"${escapeBytes(bytes)}"`;
  return `"${decoded.replaceAll(escapedPattern, (match) => escapeBytes(encodeUtf8(match)))}"`;
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
