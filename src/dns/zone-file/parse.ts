/**
 * A zone file into record requests (RFC 1035 section 5, RFC 2308 section 4 for $TTL). Nothing is
 * written: each request then goes the way of a POST, so that a file can do no more than the API.
 */
import { atLine, problem, ZoneError } from "../record/problem.ts";
import type { RecordRequest } from "../rules/accept-record.ts";
import { recordTypes } from "../record/registry.ts";
import { parseRange, substitute } from "./generate.ts";
import { parseNote } from "./line-comment.ts";
import { ScanError, scanLines, type LogicalLine, type Token } from "./scan.ts";
import { parseTtl } from "./ttl-units.ts";

export interface ParsedRecord {
  readonly request: RecordRequest;
  readonly line: number;
}

interface ParseOptions {
  readonly zoneName: string;
  /** For records whose line does not say. */
  readonly proxied: boolean;
}

interface State {
  origin: string;
  ttl: number | undefined;
  owner: string | undefined;
}

function refuse(line: number, reason: string): never {
  throw new ZoneError([problem.zoneFile(line, reason)]);
}

/** A full name without the final dot. */
function absolute(word: string, origin: string): string {
  if (word === "@") return origin;
  if (word.endsWith(".")) return word.slice(0, -1);
  return origin === "" ? word : `${word}.${origin}`;
}

/** TTL and class may come in either order before the type. */
function takeHead(words: readonly Token[], line: number): { ttl?: number; rest: readonly Token[] } {
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

function parseRecord(line: LogicalLine, state: State, options: ParseOptions): ParsedRecord | null {
  const words = [...line.tokens];
  if (!line.startsBlank) state.owner = absolute(words.shift()!.text, state.origin);
  if (state.owner === undefined) refuse(line.number, "the first record has no owner");
  const { ttl = state.ttl, rest } = takeHead(words, line.number);
  const name = rest[0]?.text.toUpperCase() ?? "";
  const type = recordTypes.get(name);
  if (type === undefined) {
    throw new ZoneError([atLine(problem.typeUnknown(JSON.stringify(name)), line.number)]);
  }
  // The zone has its own SOA; a file that brings one along is not wrong.
  if (type.managedBy !== null) return null;
  const rdata = type.parse(rest.slice(1), state.origin);
  if (rdata === null)
    refuse(line.number, `the data of a ${type.type} record is incomplete or too long`);
  const note = parseNote(line.comment);
  const request = {
    type: type.type,
    name: `${state.owner}.`,
    ...rdata,
    ttl,
    proxied: type.proxiable ? (note.proxied ?? options.proxied) : false,
    comment: note.comment,
    tags: note.tags,
    settings: note.settings,
  };
  return { request, line: line.number };
}

function* generateLines(line: LogicalLine): Generator<LogicalLine> {
  const [, rangeWord, ...template] = line.tokens;
  const range = rangeWord === undefined ? null : parseRange(rangeWord.text);
  if (range === null) refuse(line.number, "$GENERATE needs a range such as 1-10 or 1-10/2");
  for (let value = range.start; value <= range.stop; value += range.step) {
    const tokens = template.map((token) => {
      const text = substitute(token.text, value);
      if (text === null) refuse(line.number, `$GENERATE cannot fill in ${token.text}`);
      return { text, quoted: token.quoted };
    });
    yield { ...line, tokens, startsBlank: false };
  }
}

function obeyDirective(directive: string, line: LogicalLine, state: State): void {
  const word = line.tokens[1]?.text;
  if (word === undefined) refuse(line.number, `${directive} needs a value`);
  if (directive === "$ORIGIN") {
    state.origin = absolute(word.toLowerCase(), state.origin);
  } else if (directive === "$TTL") {
    state.ttl = parseTtl(word) ?? refuse(line.number, `${word} is not a TTL`);
  } else if (directive === "$INCLUDE") {
    refuse(line.number, "$INCLUDE is not allowed");
  } else {
    refuse(line.number, `${directive} is not a directive`);
  }
}

/** Stops at the first line that cannot be read; `recordsMax` bounds what $GENERATE can make. */
export function parseZoneFile(
  text: string,
  options: ParseOptions & { readonly recordsMax: number },
): ParsedRecord[] {
  const records: ParsedRecord[] = [];
  const state: State = { origin: options.zoneName, ttl: undefined, owner: undefined };
  const add = (line: LogicalLine) => {
    if (line.tokens.length === 0) refuse(line.number, "a record is missing");
    const record = parseRecord(line, state, options);
    if (record === null) return;
    if (records.length >= options.recordsMax) throw new ZoneError([problem.recordQuota()]);
    records.push(record);
  };
  try {
    for (const line of scanLines(text)) {
      const directive = line.startsBlank ? "" : line.tokens[0]!.text.toUpperCase();
      if (directive === "$GENERATE") for (const made of generateLines(line)) add(made);
      else if (directive.startsWith("$")) obeyDirective(directive, line, state);
      else add(line);
    }
  } catch (error) {
    if (error instanceof ScanError) refuse(error.line, error.message);
    throw error;
  }
  return records;
}
