/** The text form of types and record data; unknown types have the form of RFC 3597 section 5. */
import { quoteBytes } from "../wire/character-string.ts";
import { encodeHex } from "../../base/hex.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/reader.ts";
import { WireError } from "../wire/bytes.ts";
import { formatNsec, formatSignature } from "./dnssec-text.ts";
import { recordTypeByCode, recordTypes } from "./registry.ts";

const codesByName = new Map<string, number>([
  ...Object.entries(typeCodes),
  ...Array.from(recordTypes.values(), ({ type, code }) => [type, code] as const),
]);
const namesByCode = new Map<number, string>(
  Array.from(codesByName, ([name, code]) => [code, name]),
);

/** Type codes have 16 bits. */
const typeCodeMax = 65_535;

export function typeName(code: number): string {
  return namesByCode.get(code) ?? `TYPE${code}`;
}

/** `null` when the word is not a type. */
export function typeCode(word: string): number | null {
  const name = word.toUpperCase();
  const known = codesByName.get(name);
  if (known !== undefined) return known;
  const code = Number(/^TYPE(0|[1-9]\d{0,4})$/.exec(name)?.[1] ?? typeCodeMax + 1);
  return code <= typeCodeMax ? code : null;
}

/** The text of HINFO, which answers ANY queries (RFC 8482); the API has no HINFO records. */
function formatStrings(data: Uint8Array): string {
  const reader = new Reader(data);
  const words: string[] = [];
  while (reader.remaining > 0) words.push(quoteBytes(reader.characterString()));
  return words.join(" ");
}

/** Types that only answers have, or that have the form of another type (RFC 7344 section 3). */
const otherForms = new Map<number, (data: Uint8Array) => string>([
  [typeCodes.HINFO, formatStrings],
  [typeCodes.RRSIG, (data) => formatSignature(data, typeName)],
  [typeCodes.NSEC, (data) => formatNsec(data, typeName)],
  [typeCodes.CDS, (data) => formatData(typeCodes.DS, data)],
  [typeCodes.CDNSKEY, (data) => formatData(typeCodes.DNSKEY, data)],
]);

/** The form of a zone file; malformed data and data of an unknown type become `\# length hex`. */
export function formatData(code: number, data: Uint8Array): string {
  const type = recordTypeByCode(code);
  try {
    if (type !== undefined) return type.compose(type.read(data));
    const format = otherForms.get(code);
    if (format !== undefined) return format(data);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return data.length === 0 ? "\\# 0" : `\\# ${data.length} ${encodeHex(data)}`;
}
