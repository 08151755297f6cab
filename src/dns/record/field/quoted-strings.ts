/**
 * TXT content: one or more double-quoted strings. Content without quotation marks is literal text
 * and gets them. Content in which only a part is quoted is refused. Strings longer than the 255
 * octets of a character-string are split between characters.
 */
import { problem } from "../problem.ts";
import { concatBytes, decodeUtf8, encodeUtf8 } from "../../wire/bytes.ts";
import { characterStringBytesMax, quoteBytes, unescapeBytes } from "../../wire/character-string.ts";
import type { Field } from "./field.ts";

const contentPattern = /^\s*"(?:[^"\\]|\\[^])*"(?:\s+"(?:[^"\\]|\\[^])*")*\s*$/u;
const quotedPattern = /"((?:[^"\\]|\\[^])*)"/gu;

/** `null` when quotation marks or escapes are malformed. */
export function parseStrings(content: string): Uint8Array[] | null {
  if (!content.includes('"')) return splitString(encodeUtf8(content));
  if (!contentPattern.test(content)) return null;
  const strings: Uint8Array[] = [];
  for (const [, inner] of content.matchAll(quotedPattern)) {
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
    // Octets of the form 10xxxxxx continue a character.
    if (isText) while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to -= 1;
    parts.push(bytes.slice(from, to));
    from = to;
  }
  return parts;
}

export function composeStrings(strings: readonly Uint8Array[]): string {
  return strings.map(quoteBytes).join(" ");
}

/** The concatenated text, which SPF, DKIM, DMARC and list filters read. */
export function joinStrings(strings: readonly Uint8Array[]): string {
  const bytes = concatBytes(strings);
  return decodeUtf8(bytes) ?? String.fromCharCode(...bytes);
}

/** The content of a TXT record; the value is the canonical text with quotation marks. */
export const quotedStrings: Field<string> = {
  rest: true,
  accept(input, _, type) {
    if (typeof input !== "string" || input === "") return problem.contentInvalid(type);
    const strings = parseStrings(input);
    return strings === null ? problem.quotationMarks() : composeStrings(strings);
  },
  compose: (value) => value,
  parse: (tokens) => tokens.map(({ text }) => `"${text}"`).join(" "),
  write(writer, value) {
    for (const string of parseStrings(value)!) writer.characterString(string);
  },
  read(reader) {
    const strings = [reader.characterString()];
    while (reader.remaining > 0) strings.push(reader.characterString());
    return composeStrings(strings);
  },
};
