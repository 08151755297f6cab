/**
 * Turns a zone file into record requests (RFC 1035 section 5; RFC 2308 section 4 for $TTL). The API
 * validates each request like a POST, so that a zone file has no abilities beyond the API.
 */
import { atLine, problem, ZoneError } from "../record/problem.ts";
import type { RecordRequest } from "../rules/accept-record.ts";
import { recordTypes } from "../record/registry.ts";
import { parseRange, substitute } from "./generate.ts";
import { parseLineComment } from "./line-comment.ts";
import { ScanError, scanLines, type LogicalLine, type Token } from "../record/tokens.ts";

interface ParsedRecord {
  readonly request: RecordRequest;
  readonly line: number;
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

/** Returns the full name without the final dot. */
function toAbsoluteName(word: string, origin: string): string {
  if (word === "@") return origin;
  if (word.endsWith(".")) return word.slice(0, -1);
  return origin === "" ? word : `${word}.${origin}`;
}

/** TTL and class may precede the type in either order. */
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

function parseRecord(
  line: LogicalLine,
  state: ParserState,
  proxiedDefault: boolean,
): ParsedRecord | null {
  const words = [...line.tokens];
  if (!line.startsBlank) state.owner = toAbsoluteName(words.shift()!.text, state.origin);
  if (state.owner === undefined) refuse(line.number, "the first record has no owner");
  const { ttl = state.ttl, rest } = parseTtlAndClass(words, line.number);
  const name = rest[0]?.text.toUpperCase() ?? "";
  const type = recordTypes.get(name);
  if (type === undefined) {
    throw new ZoneError([atLine(problem.typeUnknown(JSON.stringify(name)), line.number)]);
  }
  // The zone has a SOA of its own and ignores that of the file.
  if (type.managedBy !== null) return null;
  const rdata = type.parse(rest.slice(1), state.origin);
  if (rdata === null)
    refuse(line.number, `the data of a ${type.type} record is incomplete or too long`);
  const { comment, tags, proxied, settings } = parseLineComment(line.comment);
  const request = {
    type: type.type,
    name: `${state.owner}.`,
    ...rdata,
    ttl,
    proxied: type.proxiable ? (proxied ?? proxiedDefault) : false,
    comment,
    tags,
    settings,
  };
  return { request, line: line.number };
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

/** Throws at the first malformed line. */
export function parseZoneFile(text: string, options: ParseOptions): ParsedRecord[] {
  const records: ParsedRecord[] = [];
  const state: ParserState = { origin: options.zoneName, ttl: undefined, owner: undefined };
  const add = (line: LogicalLine) => {
    if (line.tokens.length === 0) refuse(line.number, "a record is missing");
    const record = parseRecord(line, state, options.proxied);
    if (record === null) return;
    if (records.length >= options.recordsMax) throw new ZoneError([problem.recordQuota()]);
    records.push(record);
  };
  try {
    for (const line of scanLines(text)) {
      const directive = line.startsBlank ? "" : line.tokens[0]!.text.toUpperCase();
      if (directive === "$GENERATE") for (const generated of generateLines(line)) add(generated);
      else if (directive.startsWith("$")) applyDirective(directive, line, state);
      else add(line);
    }
  } catch (error) {
    if (error instanceof ScanError) refuse(error.line, error.message);
    throw error;
  }
  return records;
}
