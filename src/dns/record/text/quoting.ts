/**
 * TXT content: one or more double-quoted strings. Content without any quotation mark is taken
 * literally and gets them; anything between the two is refused. Strings longer than the 255
 * octets of a character-string are split, never inside a character.
 */
import { concatBytes } from "../../wire/bytes.ts";
import { characterStringBytesMax, quoteBytes, unescapeBytes } from "../../wire/character-string.ts";
import { decodeUtf8, encodeUtf8 } from "../../wire/utf8.ts";

const quotedStrings = /^\s*"(?:[^"\\]|\\[^])*"(?:\s+"(?:[^"\\]|\\[^])*")*\s*$/u;
const quotedString = /"((?:[^"\\]|\\[^])*)"/gu;

/** `null` when quotation marks or escapes are inconsistent. */
export function parseStrings(content: string): Uint8Array[] | null {
  if (!content.includes('"')) return splitString(encodeUtf8(content));
  if (!quotedStrings.test(content)) return null;
  const strings: Uint8Array[] = [];
  for (const [, inner] of content.matchAll(quotedString)) {
    const bytes = unescapeBytes(inner!);
    if (bytes === null) return null;
    strings.push(...splitString(bytes));
  }
  return strings;
}

function splitString(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= characterStringBytesMax) return [bytes];
  const isText = decodeUtf8(bytes) !== null;
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(from + characterStringBytesMax, bytes.length);
    // 10xxxxxx continues a character.
    if (isText) while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to -= 1;
    parts.push(bytes.slice(from, to));
    from = to;
  }
  return parts;
}

export function composeStrings(strings: readonly Uint8Array[]): string {
  return strings.map(quoteBytes).join(" ");
}

/** The strings run together, as SPF, DKIM, DMARC and list filters read them. */
export function joinStrings(strings: readonly Uint8Array[]): string {
  const bytes = concatBytes(strings);
  return decodeUtf8(bytes) ?? String.fromCharCode(...bytes);
}
