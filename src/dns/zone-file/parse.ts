/**
 * Turns a zone file into record requests (RFC 1035 section 5; RFC 2308 section 4 for $TTL). The API
 * validates each request like a POST, so that a zone file has no abilities beyond the API.
 */
import { parseOctets, typeCode } from "../record/presentation.ts";
import { atLine, problem, ZoneError, type Problem } from "../record/problem.ts";
import { isAbsoluteName } from "../record/record-name.ts";
import type { RdataRequest, RecordType } from "../record/record-type.ts";
import { scanLines, type LogicalLine, type ScanError, type Token } from "../record/tokens.ts";
import { recordType, recordTypesByCode } from "../record/types.ts";
import { nearestTtl, ttlAuto } from "../record/zone-record.ts";
import type { RecordRequest } from "../rules/accept-record.ts";
import { decodeUtf8 } from "../wire/bytes.ts";
import { flattenedLines, parseLineComment } from "./compose.ts";

/** The length of a character in UTF-8 by its first octet, and 1 for an octet that starts none. */
function characterBytes(octet: number): number {
  return octet < 0xc2 ? 1 : octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : octet < 0xf5 ? 4 : 1;
}

/**
 * The text of a zone file. A zone file is octets, and any octet can be part of a TXT record or of a
 * name: octets that are not UTF-8 become their escape `\DDD`, which means the same octets.
 */
export function zoneFileText(file: Uint8Array): string {
  const whole = decodeUtf8(file);
  if (whole !== null) return whole;
  const parts: string[] = [];
  let isEscaped = false;
  for (let at = 0; at < file.length;) {
    const length = characterBytes(file[at]!);
    const text = decodeUtf8(file.subarray(at, at + length));
    // A backslash before the octet is the backslash of its escape.
    parts.push(text ?? `${isEscaped ? "" : "\\"}${String(file[at]).padStart(3, "0")}`);
    isEscaped = text === "\\" && !isEscaped;
    at += text === null ? 1 : length;
  }
  return parts.join("");
}

interface ParsedRecord {
  readonly request: RecordRequest;
  readonly line: number;
  /** The TTL of the file, where no record can have it. */
  readonly ttlMovedFrom: number | null;
}

export interface ZoneFileContent {
  readonly records: readonly ParsedRecord[];
  /** The problems of all malformed lines, in the order of the lines. */
  readonly problems: readonly Problem[];
}

interface ParseOptions {
  readonly zoneName: string;
  /** The value for lines that do not specify it. */
  readonly proxied: boolean;
  /** Limits the records of $GENERATE as well. */
  readonly recordsMax: number;
}

interface ParserState {
  origin: string;
  ttl: number | undefined;
  owner: string | undefined;
}

/** RFC 7208 section 3.1: the type that SPF had before TXT. */
const spfCode = 99;
const txtCode = recordType("TXT").code;
const octetsMark = "\\#";

function refuse(line: number, reason: string): never {
  throw new ZoneError([problem.zoneFile(line, reason)]);
}

const ttlUnitSeconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** The TTL forms of BIND: `3600`, `1h`, `1h30m`; `null` when the word is not a TTL. */
function parseTtl(word: string): number | null {
  if (/^\d{1,10}$/.test(word)) return Number(word);
  if (!/^(?:\d{1,10}[smhdw])+$/i.test(word)) return null;
  let total = 0;
  for (const [, count, unit] of word.toLowerCase().matchAll(/(\d+)([smhdw])/g)) {
    total += Number(count) * ttlUnitSeconds[unit as keyof typeof ttlUnitSeconds];
  }
  return total;
}

function toAbsoluteName(word: string, origin: string): string {
  if (word === "@") return origin;
  if (isAbsoluteName(word)) return word.slice(0, -1);
  return origin === "" ? word : `${word}.${origin}`;
}

function parseTtlAndClass(
  words: readonly Token[],
  line: number,
): { ttl?: number; rest: readonly Token[] } {
  let ttl: number | undefined;
  let at = 0;
  for (; at < 2 && at < words.length; at++) {
    const { text, quoted } = words[at]!;
    const upper = text.toUpperCase();
    const seconds = quoted ? null : parseTtl(text);
    if (upper === "CH" || upper === "HS" || upper === "CS") {
      refuse(line, `class ${text} is not served, only IN`);
    } else if (seconds !== null && ttl === undefined) ttl = seconds;
    else if (upper !== "IN") break;
  }
  const rest = words.slice(at);
  return ttl === undefined ? { rest } : { ttl, rest };
}

/** `TYPE1` is A (RFC 3597 section 5), and SPF is TXT (RFC 7208 section 3.1). */
function findType(word: string): RecordType | undefined {
  const code = typeCode(word.toUpperCase() === "SPF" ? "TYPE99" : word);
  return code === null ? undefined : recordTypesByCode.get(code === spfCode ? txtCode : code);
}

function parseData(
  type: RecordType,
  words: readonly Token[],
  line: LogicalLine,
  origin: string,
): RdataRequest {
  if (words[0]?.text !== octetsMark) {
    const incomplete = `the data of a ${type.type} record is incomplete or too long`;
    return type.parse(words, origin) ?? refuse(line.number, incomplete);
  }
  const found = parseOctets(
    type,
    words.slice(1).map(({ text }) => text),
  );
  return typeof found === "string" ? refuse(line.number, found) : found;
}

function parseRecord(
  line: LogicalLine,
  state: ParserState,
  proxiedDefault: boolean,
): ParsedRecord | null {
  const words = [...line.tokens];
  if (!line.startsBlank) state.owner = toAbsoluteName(words.shift()!.text, state.origin);
  if (state.owner === undefined) refuse(line.number, "the first record has no owner");
  const { ttl = state.ttl, rest } = parseTtlAndClass(words, line.number);
  const word = rest[0]?.text ?? "";
  const type = findType(word);
  if (type === undefined) {
    const found = problem.typeUnknown(JSON.stringify(word.toUpperCase()));
    throw new ZoneError([atLine(found, line.number)]);
  }
  // The zone has a SOA of its own and ignores that of the file.
  if (type.managedBy !== null) return null;
  const rdata = parseData(type, rest.slice(1), line, state.origin);
  const { comment, tags, proxied, settings, privateRouting } = parseLineComment(line.comment);
  const ttlTo = ttl === undefined || ttl === ttlAuto ? ttl : nearestTtl(ttl);
  const request = {
    type: type.type,
    name: `${state.owner}.`,
    ...rdata,
    ttl: ttlTo,
    proxied: type.proxiable ? (proxied ?? proxiedDefault) : false,
    comment,
    tags,
    settings,
    private_routing: privateRouting,
  };
  return { request, line: line.number, ttlMovedFrom: ttl === ttlTo ? null : (ttl ?? null) };
}

function* generateLines(line: LogicalLine): Generator<LogicalLine> {
  const [, rangeWord, ...template] = line.tokens;
  const range = parseRange(rangeWord?.text ?? "");
  if (range === null) refuse(line.number, "$GENERATE needs a range such as 1-10 or 1-10/2");
  for (const value of range) {
    const tokens = template.map((token) => {
      const text = substitute(token.text, value);
      if (text === null) refuse(line.number, `$GENERATE cannot fill in ${token.text}`);
      return { text, quoted: token.quoted };
    });
    yield { ...line, tokens, startsBlank: false };
  }
}

function applyDirective(directive: string, line: LogicalLine, state: ParserState): void {
  const word = line.tokens[1]?.text;
  if (word === undefined) refuse(line.number, `${directive} needs a value`);
  if (directive === "$ORIGIN") {
    state.origin = toAbsoluteName(word.toLowerCase(), state.origin);
  } else if (directive === "$TTL") {
    state.ttl = parseTtl(word) ?? refuse(line.number, `${word} is not a TTL`);
  } else if (directive === "$INCLUDE") {
    refuse(line.number, "$INCLUDE is not allowed");
  } else {
    refuse(line.number, `${directive} is not a directive`);
  }
}

/** Throws ZoneError only when the file has more records than the options allow. */
export function readZoneFile(text: string, options: ParseOptions): ZoneFileContent {
  const records: ParsedRecord[] = [];
  const problems: Problem[] = [];
  const quota = new ZoneError([problem.recordQuota()]);
  const state: ParserState = { origin: options.zoneName, ttl: undefined, owner: undefined };
  const add = (line: LogicalLine): void => {
    if (line.tokens.length === 0) refuse(line.number, "a record is missing");
    const record = parseRecord(line, state, options.proxied);
    if (record !== null) records.push(record);
    if (records.length > options.recordsMax) throw quota;
  };
  const read = (line: LogicalLine): void => {
    const directive = line.startsBlank ? "" : line.tokens[0]!.text.toUpperCase();
    if (directive === "$GENERATE") for (const generated of generateLines(line)) add(generated);
    else if (directive.startsWith("$")) applyDirective(directive, line, state);
    else add(line);
  };
  const report = ({ line, message }: ScanError): void =>
    void problems.push(problem.zoneFile(line, message));
  for (const line of scanLines(text.replaceAll(flattenedLines, ""), report)) {
    try {
      read(line);
    } catch (error) {
      if (error === quota || !(error instanceof ZoneError)) throw error;
      problems.push(...error.problems);
    }
  }
  return { records, problems };
}

/** @throws ZoneError with the problems of all malformed lines */
export function parseZoneFile(text: string, options: ParseOptions): readonly ParsedRecord[] {
  const { records, problems } = readZoneFile(text, options);
  if (problems.length > 0) throw new ZoneError(problems);
  return records;
}

/**
 * $GENERATE of BIND: a range `start-stop[/step]`, and words with `$` or `${offset[,width[,base]]}`.
 * The limit for the records of one directive is our own.
 */
const generatedMax = 65_536;

function parseRange(word: string): number[] | null {
  const match = /^(\d{1,9})-(\d{1,9})(?:\/(\d{1,9}))?$/.exec(word);
  if (match === null) return null;
  const [start, stop, step] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)];
  if (step < 1 || stop < start || (stop - start) / step >= generatedMax) return null;
  const count = Math.floor((stop - start) / step) + 1;
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function format(value: number, width: number, base: string): string {
  // n and N reverse the digits and separate them with dots, for ip6.arpa.
  if (base === "n" || base === "N") {
    const digits = value.toString(16).padStart(Math.ceil(width / 2), "0");
    const nibbles = digits.split("").toReversed().join(".");
    return base === "N" ? nibbles.toUpperCase() : nibbles;
  }
  const radix = base === "o" ? 8 : base === "x" || base === "X" ? 16 : 10;
  const digits = value.toString(radix).padStart(width, "0");
  return base === "X" ? digits.toUpperCase() : digits;
}

/** `null` when a `${…}` is malformed or its value is negative. */
function substitute(template: string, value: number): string | null {
  let broken = false;
  const text = template.replaceAll(
    /\\\$|\$\{([^}]*)\}|\$/g,
    (whole: string, modifiers: string | undefined) => {
      if (whole === "\\$") return "$";
      if (modifiers === undefined) return String(value);
      const match = /^(-?\d{1,9})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(modifiers);
      const result = value + Number(match?.[1] ?? 0);
      if (match === null || result < 0) broken = true;
      return format(Math.max(0, result), Number(match?.[2] ?? 0), match?.[3] ?? "d");
    },
  );
  return broken ? null : text;
}
