/**
 * The text form of a character-string (RFC 1035 section 5.1): `"` and `\` are escaped, octets that
 * are not printable become `\DDD`, and all other characters are written as UTF-8.
 */
import { concatBytes, decodeUtf8, encodeUtf8 } from "./bytes.ts";

export const characterStringBytesMax = 255;

function escapeAscii(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  if (byte >= 0x20 && byte < 0x7f) return String.fromCharCode(byte);
  return `\\${String(byte).padStart(3, "0")}`;
}

/** C1 controls and line separators are not printable: they would break a line of a zone file. */
function isPrintable(character: string): boolean {
  return /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]$/u.test(character);
}

export function quoteBytes(bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  let text = "";
  if (decoded === null) {
    for (const byte of bytes) text += escapeAscii(byte);
  } else {
    for (const character of decoded) {
      if (character > "\x7f" && isPrintable(character)) text += character;
      else for (const byte of encodeUtf8(character)) text += escapeAscii(byte);
    }
  }
  return `"${text}"`;
}

/** Resolves the escapes between two quotation marks; `null` when an escape is malformed. */
export function unescapeBytes(text: string): Uint8Array | null {
  const parts: Uint8Array[] = [];
  for (const piece of text.match(/[^\\]+|\\\d{3}|\\[^]?/gu) ?? []) {
    if (piece[0] !== "\\") parts.push(encodeUtf8(piece));
    else if (piece.length === 4) {
      if (Number(piece.slice(1)) > 255) return null;
      parts.push(Uint8Array.of(Number(piece.slice(1))));
    } else if (piece.length === 1) return null;
    else parts.push(encodeUtf8(piece.slice(1)));
  }
  return concatBytes(parts);
}
