/**
 * The kinds of fields that record types are made of (`Field` in `record-type.ts`): whole numbers,
 * hostnames, addresses, octets as hexadecimal or base64, printable text, and the strings of TXT.
 */
import { decodeHex, encodeHex } from "../../base/hex.ts";
import {
  characterStringBytesMax,
  concatBytes,
  decodeBase64,
  decodeUtf8,
  encodeBase64,
  encodeUtf8,
  quoteBytes,
  unescapeBytes,
  WireError,
} from "../wire/bytes.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip-address.ts";
import { problem, type Problem, type ReportProblem } from "./problem.ts";
import {
  isAbsoluteName,
  isDnsName,
  isWireName,
  toAsciiName,
  withoutFinalDot,
} from "./record-name.ts";
import type { Field } from "./record-type.ts";

/** Some deployed clients send numbers as strings. */
export function readInteger(input: unknown): number | null {
  if (typeof input === "number") return Number.isSafeInteger(input) ? input : null;
  if (typeof input === "string" && /^\d{1,10}$/.test(input)) return Number(input);
  return null;
}

interface IntegerOptions {
  /** The words that a zone file may use for numbers, e.g. PKIX for a CERT type. */
  readonly mnemonics?: Readonly<Record<string, number>>;
  readonly refuse?: () => Problem;
}

export function integer(bits: 8 | 16 | 32, options: IntegerOptions = {}): Field<number> {
  const max = 2 ** bits - 1;
  const method = `uint${bits}` as const;
  return {
    accept(input, name) {
      const value = readInteger(input);
      if (value !== null && value >= 0 && value <= max) return value;
      return options.refuse?.() ?? problem.integerRange(name, 0, max);
    },
    parse: ([token]) => options.mnemonics?.[token!.text.toUpperCase()] ?? token!.text,
    write: (writer, value) => writer[method](value),
    read: (reader) => reader[method](),
  };
}

/** The `priority` field of MX, SRV and URI records. */
export const priority = integer(16, { refuse: problem.priorityRange });

/** The parts of an IPv4 address are valid labels, but an address as a target is a mistake. */
const dottedQuad = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Lower-case punycode without the final dot, or `null` when the text is not a hostname. */
export function normaliseHostname(input: string): string | null {
  const name = withoutFinalDot(toAsciiName(input.trim()));
  if (dottedQuad.test(name)) return null;
  return isDnsName(name.startsWith("*.") ? name.slice(2) : name) ? name : null;
}

/** Other characters need an escape: blanks, and the colon of a URL, are mistakes. */
const targetText = /^(?:[A-Za-z0-9_*/.\-\u{80}-\u{10ffff}]|\\[^])+$/u;

/**
 * The canonical text (`record-name.ts`) of a name in the data of a record, which may have any octets:
 * the instances of a service (RFC 6763) have blanks, and the mailbox of a SOA record has dots.
 */
export function normaliseTarget(input: string): string | null {
  const given = input.trim();
  const name = withoutFinalDot(toAsciiName(given));
  return targetText.test(given) && !dottedQuad.test(name) && isWireName(name) ? name : null;
}

interface HostnameOptions {
  /** The root means "none" in SRV, NAPTR and MX, and "the owner" in SVCB; other types refuse it. */
  readonly rootAllowed?: boolean;
  /** The deployed service shows the final dot; clients read the content as a line of a zone file. */
  readonly finalDot?: boolean;
  readonly refuse?: (type: string) => Problem;
}

export function hostname(options: HostnameOptions = {}): Field<string> {
  const end = options.finalDot === true ? "." : "";
  const show = (name: string): string => (name === "." ? name : name + end);
  return {
    accept(input, name, type) {
      if (options.rootAllowed === true && input === ".") return ".";
      const host = typeof input === "string" ? normaliseTarget(input) : null;
      return host === null ? (options.refuse?.(type) ?? problem.notAHostname(name)) : show(host);
    },
    compose: (value, form) => (form === "content" || isAbsoluteName(value) ? value : `${value}.`),
    parse([token], origin) {
      const { text } = token!;
      if (text === "@") return origin;
      return isAbsoluteName(text) || origin === "" ? text : `${text}.${origin}`;
    },
    write: (writer, value) => writer.name(value),
    read: (reader) => show(reader.name()),
  };
}

export const hostnameContent = hostname({ refuse: problem.contentInvalid });

function ipAddress(
  byteLength: number,
  parse: (text: string) => Uint8Array | null,
  format: (bytes: Uint8Array) => string,
  refuse: () => Problem,
): Field<string> {
  return {
    accept(input) {
      const bytes = typeof input === "string" ? parse(input.trim()) : null;
      return bytes === null ? refuse() : format(bytes);
    },
    write: (writer, value) => writer.bytes(parse(value)!),
    read: (reader) => format(reader.bytes(byteLength)),
  };
}

export const ipv4 = ipAddress(4, parseIpv4, formatIpv4, problem.ipv4Invalid);
export const ipv6 = ipAddress(16, parseIpv6, formatIpv6, problem.ipv6Invalid);

/** Octets up to the end of the record; the text form may contain blanks. */
function octets(
  decode: (text: string) => Uint8Array | null,
  encode: (bytes: Uint8Array) => string,
  refuse: (name: string) => Problem,
): Field<string> {
  return {
    rest: true,
    accept(input, name) {
      const text = typeof input === "string" ? input.replaceAll(/\s/g, "") : "";
      const bytes = text === "" ? null : decode(text);
      return bytes === null ? refuse(name) : encode(bytes);
    },
    parse: (tokens) => tokens.map(({ text }) => text).join(""),
    write: (writer, value) => writer.bytes(decode(value)!),
    read: (reader) => encode(reader.rest()),
  };
}

export const hexadecimal = octets(decodeHex, encodeHex, problem.notHexadecimal);
export const base64 = octets(decodeBase64, encodeBase64, problem.notBase64);

/** `bytes` is the length of the algorithm's digests; `undefined` means that any length is valid. */
export function checkDigestLength(
  name: string,
  digest: string,
  bytes: number | undefined,
  report: ReportProblem,
): void {
  if (bytes !== undefined && digest.length !== bytes * 2) report(problem.octetLength(name, bytes));
}

interface TextOptions {
  /** Without a length octet the text extends to the end of the record. Default: true */
  readonly lengthOctet?: boolean;
  readonly quoted?: boolean;
  readonly lowerCase?: boolean;
  readonly fallback?: string;
}

const printablePattern = /^[\x20-\x7e]*$/;

/** A field of printable ASCII; `rule` completes the message "X must be …". */
export function printableText(
  pattern: RegExp,
  rule: string,
  options: TextOptions = {},
): Field<string> {
  const { lengthOctet = true, quoted = true, lowerCase = false, fallback } = options;
  const charactersMax = lengthOctet ? characterStringBytesMax : Infinity;
  return {
    fallback,
    accept(input, name) {
      const value = typeof input === "string" && lowerCase ? input.toLowerCase() : input;
      const isValid =
        typeof value === "string" &&
        printablePattern.test(value) &&
        pattern.test(value) &&
        value.length <= charactersMax;
      return isValid ? value : problem.textInvalid(name, rule);
    },
    compose: (value) => (quoted ? quoteBytes(encodeUtf8(value)) : value),
    parse([token]) {
      const bytes = unescapeBytes(token!.text);
      // `accept` refuses other values than texts, but takes the fallback for `null`.
      return bytes === null ? false : (decodeUtf8(bytes) ?? false);
    },
    write(writer, value) {
      if (lengthOctet) writer.characterString(encodeUtf8(value));
      else writer.bytes(encodeUtf8(value));
    },
    read(reader) {
      const value = decodeUtf8(lengthOctet ? reader.characterString() : reader.rest());
      if (value === null || !printablePattern.test(value)) {
        throw new WireError("A text is not printable ASCII");
      }
      return value;
    },
  };
}

/**
 * TXT content: one or more double-quoted strings. Content without quotation marks is literal text
 * and gets them. Content in which only a part is quoted is refused. Strings longer than the 255
 * octets of a character-string are split between characters. The value is the canonical text.
 */
export const quotedStrings: Field<string> = {
  rest: true,
  accept(input, _, type) {
    if (typeof input !== "string" || input === "") return problem.contentInvalid(type);
    const strings = parseStrings(input);
    return strings === null ? problem.quotationMarks() : composeStrings(strings);
  },
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
