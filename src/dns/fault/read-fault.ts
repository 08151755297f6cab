/**
 * Reads a fault of queries from the JSON of the API, of `ledge/test` and of the command line, and
 * refuses whatever could never have an effect.
 */
import { toMilliseconds, type Duration } from "../../base/format.ts";
import { encodeHex } from "../../base/hex.ts";
import { nearest } from "../../base/nearest.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { typeCode, typeName } from "../record/presentation.ts";
import type { Problem } from "../record/problem.ts";
import type { RdataRequest, RecordType } from "../record/record-type.ts";
import { ScanError, splitTokens } from "../record/tokens.ts";
import { recordTypes } from "../record/types.ts";
import { WireError } from "../wire/bytes.ts";
import { encodeName } from "../wire/name.ts";
import {
  QueryFaultError,
  queryFaultKinds,
  rulesOf,
  transferTypes,
  transports,
  type FaultTarget,
  type QueryFault,
  type QueryFaultInput,
  type QueryFaultKind,
} from "./query-fault.ts";

const day = 86_400_000;

const fields = {
  kind: true,
  name: true,
  zone: true,
  type: true,
  transport: true,
  server: true,
  by: true,
  ttl: true,
  content: true,
  nth: true,
  times: true,
  probability: true,
  seed: true,
} satisfies Record<keyof QueryFaultInput, true>;

/** @throws QueryFaultError */
export function readQueryFault(input: unknown): QueryFault {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new QueryFaultError("A fault is an object with a kind.");
  }
  const given = input as Partial<Record<keyof QueryFaultInput, unknown>>;
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(fields, field))
      throw unknownWord("field of a fault", field, Object.keys(fields));
  }
  const kind = readWord("kind", given.kind, queryFaultKinds);
  if (given.name !== undefined && given.zone !== undefined) {
    throw new QueryFaultError('A fault has a "name" or a "zone", and not both.');
  }
  const types = given.type === undefined ? null : readTypes(given.type);
  const target: FaultTarget = {
    kind,
    name: given.name === undefined ? null : readName("name", given.name),
    zone: given.zone === undefined ? null : readName("zone", given.zone),
    types,
    transport:
      given.transport === undefined ? null : readWord("transport", given.transport, transports),
    server: given.server === undefined ? null : readAddress("server", given.server),
    milliseconds: readDelay(kind, given.by),
    ttlSeconds: readTtl(kind, given.ttl),
    data: readContent(kind, given.content, types),
  };
  refuseWithoutEffect(target);
  if (given.seed !== undefined && given.probability === undefined) {
    throw new QueryFaultError('"seed" has an effect together with "probability" only.');
  }
  return {
    target,
    given: input as QueryFaultInput,
    first: readCount("nth", given.nth) ?? 1,
    times: readCount("times", given.times) ?? (given.nth === undefined ? Infinity : 1),
    probability: readProbability(given.probability),
    seed: readSeed(given.seed),
  };
}

function refuseWithoutEffect({ kind, name, types, transport }: FaultTarget): void {
  const rules = rulesOf(kind);
  if (kind === "lost_notify" && (name !== null || types !== null || transport !== null)) {
    throw new QueryFaultError(
      '"lost_notify" has a "zone" and a "server" (a secondary), and no name, type or transport.',
    );
  }
  if (transport !== null && rules.transports?.includes(transport) === false) {
    throw new QueryFaultError(
      `"${kind}" has an effect over ${rules.transports.join(", ")} only: give no other transport.`,
    );
  }
  if (rules.sparesTransfers === true && types?.every((type) => transferTypes.has(type)) === true) {
    throw new QueryFaultError(`"${kind}" has no effect on transfers, which have the current zone.`);
  }
}

function unknownWord(what: string, word: string, words: readonly string[]): Error {
  const guess = nearest(word, words);
  return new QueryFaultError(
    `"${word}" is no ${what}. ` +
      (guess === null ? `Use ${words.join(", ")}.` : `Did you mean "${guess}"?`),
  );
}

function refuse(field: string, value: unknown, advice: string): never {
  throw new QueryFaultError(`"${field}" is ${JSON.stringify(value)}: ${advice}.`);
}

function readText(field: string, value: unknown): string {
  return typeof value === "string" && value !== "" ? value : refuse(field, value, "give text");
}

function readWord<Word extends string>(
  field: string,
  value: unknown,
  words: readonly Word[],
): Word {
  if (value === undefined) {
    throw new QueryFaultError(`A fault needs a "${field}": ${words.join(", ")}.`);
  }
  const word = readText(field, value);
  const found = words.find((each) => each === word);
  if (found === undefined) throw unknownWord(field, word, words);
  return found;
}

function readName(field: string, value: unknown): string {
  const text = readText(field, value)
    .toLowerCase()
    .replace(/(?<=.)\.$/, "");
  try {
    encodeName(field === "name" ? text.replaceAll("*", "x") : text);
    return text;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new QueryFaultError(`"${field}" is "${text}", which is no domain name.`);
  }
}

function readTypes(value: unknown): string[] {
  const words = Array.isArray(value) ? value : [value];
  if (words.length === 0) throw new QueryFaultError('"type" is an empty list: leave it out.');
  return words.map((word: unknown) => {
    const code = typeCode(readText("type", word));
    if (code !== null) return typeName(code);
    throw new QueryFaultError(`"type" is ${JSON.stringify(word)}, which is no type of records.`);
  });
}

/** An IPv6 address can have a zone (fe80::1%eth0). */
function readAddress(field: string, value: unknown): string {
  const text = readText(field, value);
  const address = text.replace(/%.*$/, "");
  if (parseIpv4(address) !== null || parseIpv6(address) !== null) return text;
  throw new QueryFaultError(`"${field}" is "${text}", which is no IP address.`);
}

function readDelay(kind: QueryFaultKind, by: unknown): number {
  const max = rulesOf(kind).millisecondsMax;
  if (max === undefined) {
    if (by === undefined) return 0;
    throw new QueryFaultError(`"by" is a field of delay and propagation_delay, not of ${kind}.`);
  }
  const example = 'give a length of time such as "2s" or 500 (milliseconds)';
  if (by === undefined) throw new QueryFaultError(`"${kind}" needs "by": ${example}.`);
  let milliseconds = NaN;
  try {
    milliseconds = toMilliseconds(by as Duration);
  } catch {
    // The sentence below says more.
  }
  if (milliseconds >= 0 && milliseconds <= max) return milliseconds;
  const limit = max >= day ? `${max / day} days` : `${max / 1000} seconds`;
  return refuse("by", by, `${example}, at most ${limit}`);
}

/** RFC 2181 section 8. */
const ttlSecondsMax = 2 ** 31 - 1;

function readTtl(kind: QueryFaultKind, value: unknown): number | null {
  const rule = rulesOf(kind).ttl;
  if (value === undefined && rule !== "needed") return null;
  if (rule === undefined) {
    throw new QueryFaultError(`"ttl" is a field of ttl and answer, not of ${kind}.`);
  }
  if (value === undefined) throw new QueryFaultError(`"${kind}" needs "ttl", in seconds.`);
  const isTtl = Number.isInteger(value) && (value as number) >= 0;
  if (isTtl && (value as number) <= ttlSecondsMax) return value as number;
  return refuse("ttl", value, `give a whole number of seconds from 0 to ${ttlSecondsMax}`);
}

/** Of all records: the answer has room beside them. */
const dataBytesMax = 60_000;

function readContent(
  kind: QueryFaultKind,
  value: unknown,
  types: readonly string[] | null,
): readonly string[] {
  if (kind !== "answer") {
    if (value === undefined) return [];
    throw new QueryFaultError(`"content" is a field of answer, not of ${kind}.`);
  }
  const type = recordTypes.get(types?.[0] ?? "");
  if (type === undefined || types?.length !== 1) {
    throw new QueryFaultError(
      `"answer" needs one "type", the type of its records: ${[...recordTypes.keys()].join(", ")}.`,
    );
  }
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const example = `give one or more texts such as ${JSON.stringify(type.example)}`;
  if (value === undefined || texts.length === 0) {
    throw new QueryFaultError(`"answer" needs "content": ${example}.`);
  }
  const octets = texts.map((text) => {
    const problems: Problem[] = [];
    const request = parseWords(type, readText("content", text));
    const rdata =
      request === null ? undefined : type.accept(request, "", (found) => problems.push(found));
    if (rdata !== undefined && problems.length === 0) return type.write(rdata);
    const reason = problems[0] === undefined ? "" : ` (${problems[0].message.replace(/\.$/, "")})`;
    return refuse("content", text, `${example}, as in a zone file${reason}`);
  });
  const bytes = octets.reduce((sum, { length }) => sum + length, 0);
  if (bytes > dataBytesMax) {
    throw new QueryFaultError(`"content" has ${bytes} octets: give at most ${dataBytesMax}.`);
  }
  return octets.map(encodeHex);
}

/** `null`: the words are no data of the type. */
function parseWords(type: RecordType, text: string): RdataRequest | null {
  try {
    return type.parse(splitTokens(text), "");
  } catch (error) {
    if (error instanceof ScanError) return null;
    throw error;
  }
}

function readCount(field: string, value: unknown): number | null {
  if (value === undefined) return null;
  const isCount = Number.isInteger(value) && (value as number) >= 1;
  return isCount ? (value as number) : refuse(field, value, "give a whole number from 1");
}

function readProbability(value: unknown = 1): number {
  const isValid = typeof value === "number" && value > 0 && value <= 1;
  return isValid ? value : refuse("probability", value, "give a number above 0, up to 1");
}

function readSeed(value: unknown = 1): number {
  return Number.isInteger(value) ? (value as number) : refuse("seed", value, "give a whole number");
}
