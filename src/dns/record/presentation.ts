/** The text form of types and record data; unknown types have the form of RFC 3597 section 5. */
import { decodeHex, encodeHex } from "../../base/hex.ts";
import { decodeSignature } from "../dnssec/signature.ts";
import { decodeTypeBitmap } from "../dnssec/nsec.ts";
import { encodeBase64, quoteBytes, WireError } from "../wire/bytes.ts";
import { formatName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/octets.ts";
import { ScanError, splitTokens } from "./tokens.ts";
import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";
import { recordTypesByCode, recordTypes } from "./types.ts";

const codesByName = new Map<string, number>([
  ...Object.entries(typeCodes),
  ...Array.from(recordTypes.values(), ({ type, code }) => [type, code] as const),
]);
const namesByCode = new Map<number, string>(
  Array.from(codesByName, ([name, code]) => [code, name]),
);

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

/** Types that only answers have, or that have the form of another type (RFC 7344 section 3). */
const otherForms = new Map<number, (data: Uint8Array) => string>([
  [typeCodes.HINFO, formatStrings],
  [typeCodes.RRSIG, formatSignature],
  [typeCodes.NSEC, formatNsec],
  [typeCodes.CDS, (data) => formatData(typeCodes.DS, data)],
  [typeCodes.CDNSKEY, (data) => formatData(typeCodes.DNSKEY, data)],
]);

/** The form of a zone file; malformed data and data of an unknown type become `\# length hex`. */
export function formatData(code: number, data: Uint8Array): string {
  const type = recordTypesByCode.get(code);
  try {
    if (type !== undefined) return type.compose(type.read(data));
    const format = otherForms.get(code);
    if (format !== undefined) return format(data);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return data.length === 0 ? "\\# 0" : `\\# ${data.length} ${encodeHex(data)}`;
}

/** The text of HINFO, which answers ANY queries (RFC 8482); the API has no HINFO records. */
function formatStrings(data: Uint8Array): string {
  const reader = new Reader(data);
  const words: string[] = [];
  while (reader.remaining > 0) words.push(quoteBytes(reader.characterString()));
  return words.join(" ");
}

/** RFC 4034 section 3.2. */
function formatSignature(data: Uint8Array): string {
  const { fields, signature } = decodeSignature(data);
  return [
    typeName(fields.typeCovered),
    fields.algorithm,
    fields.labels,
    fields.originalTtlSeconds,
    formatTime(fields.expirationSeconds),
    formatTime(fields.inceptionSeconds),
    fields.keyTag,
    absolute(fields.signerName),
    encodeBase64(signature),
  ].join(" ");
}

/** RFC 4034 section 4.2. */
function formatNsec(data: Uint8Array): string {
  const reader = new Reader(data);
  const next = absolute(reader.nameOctets());
  return [next, ...decodeTypeBitmap(reader.rest()).map(typeName)].join(" ");
}

/** YYYYMMDDHHmmSS, in UTC. */
function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replaceAll(/\D/g, "");
}

function absolute(name: Uint8Array): string {
  const text = formatName(name);
  return text === "." ? text : `${text}.`;
}

/** The data of a record as the part of a request that holds it. */
export function rdataRequest(type: RecordType, rdata: Rdata): RdataRequest {
  const data = type.data(rdata);
  return {
    ...(data === null ? { content: type.content(rdata) } : { data }),
    ...(type.topLevelPriority && { priority: rdata["priority"] }),
  };
}

/**
 * Data in hexadecimal: the number of octets, then the octets (RFC 3597 section 5). Returns the
 * reason when the words are no such data.
 */
export function parseOctets(
  type: RecordType,
  [length, ...digits]: readonly string[],
): RdataRequest | string {
  const octets = decodeHex(digits.join(""));
  if (octets === null || length !== String(octets.length)) {
    return "the octets after \\# must be as many as their number says, in hexadecimal";
  }
  try {
    return rdataRequest(type, type.read(octets));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return `the octets are no data of a ${type.type} record`;
  }
}

/**
 * Content as a person writes it, as the part of a request that holds it: the words of a zone file,
 * with whole hostnames, and without the priority of a type whose priority is a field of the record.
 * Returns the reason when the words are no such content.
 */
export function contentRequest(type: RecordType, content: string): RdataRequest | string {
  if (type.shape === "content") return { content };
  const expected = `The content of this type looks like: ${type.example}`;
  try {
    const words = splitTokens(content.replaceAll(/[\r\n]+/g, " "));
    const priority = type.topLevelPriority ? [{ text: "0", quoted: false }] : [];
    const request = type.parse([...priority, ...words], "");
    if (request === null) return `The content has too few or too many words. ${expected}`;
    if (!type.topLevelPriority) return { data: request.data };
    const { priority: _, ...data } = request.data as Rdata;
    return { data };
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    return `The content cannot be read: ${error.message}. ${expected}`;
  }
}

/** The names of all types that a question can have. */
export const typeNames: readonly string[] = [...codesByName.keys()];
