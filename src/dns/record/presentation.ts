/** Types and record data as text, for whatever comes off the wire (RFC 3597 section 5 for the rest). */
import { quoteBytes } from "../wire/character-string.ts";
import { encodeHex } from "../../base/hex.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/reader.ts";
import { WireError } from "../wire/wire-error.ts";
import { recordTypes } from "./registry.ts";
import type { RecordType } from "./record-type.ts";

const byCode = new Map<number, RecordType>(
  Array.from(recordTypes.values(), (type) => [type.code, type]),
);
const numbered = new Map<string, number>([
  ...Object.entries(typeCodes),
  ...Array.from(recordTypes.values(), ({ type, code }) => [type, code] as const),
]);
const named = new Map<number, string>(Array.from(numbered, ([name, code]) => [code, name]));

/** Types of 16 bits. */
const typeMax = 65_535;

export function typeName(code: number): string {
  return named.get(code) ?? `TYPE${code}`;
}

/** `null` when the word is no type. */
export function typeCode(word: string): number | null {
  const name = word.toUpperCase();
  const known = numbered.get(name);
  if (known !== undefined) return known;
  const code = Number(/^TYPE(0|[1-9]\d{0,4})$/.exec(name)?.[1] ?? typeMax + 1);
  return code <= typeMax ? code : null;
}

/** Character-strings and nothing else: HINFO, which answers ANY and which no request can create. */
function formatStrings(data: Uint8Array): string {
  const reader = new Reader(data);
  const words: string[] = [];
  while (reader.remaining > 0) words.push(quoteBytes(reader.characterString()));
  return words.join(" ");
}

/** As in a zone file; data of an unknown type, or that is not of its type, as `\# length hex`. */
export function formatData(code: number, data: Uint8Array): string {
  const type = byCode.get(code);
  try {
    if (type !== undefined) return type.compose(type.take(data));
    if (code === typeCodes.HINFO) return formatStrings(data);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return data.length === 0 ? "\\# 0" : `\\# ${data.length} ${encodeHex(data)}`;
}
