/**
 * Faults that tests inject into queries: which queries a fault matches, and what happens to them.
 *
 * A fault is plain data. `readQueryFault` makes it from the JSON of the API, of `ledge/test` and of the
 * command line, and refuses whatever could never have an effect.
 *
 *     drop               no response
 *     delay              the response comes later
 *     servfail, refused  an error, without records
 *     truncate           over UDP: TC, without records
 *     wrong_id           the response has another identifier than the query
 *     lame               the server does not know the zone: no AA, no records, no error
 *     stale              the answer from the zones as they were when the fault was set
 *     propagation_delay  the answer from the zones as they were some time ago
 *     lost_notify        a NOTIFY message is not sent
 */
import { toMilliseconds, type Duration } from "../../base/format.ts";
import {
  type FaultScheduleOptions,
  matchesPattern,
  toPlainPattern,
  FaultSchedule,
} from "../../base/fault-schedule.ts";
import { nearest } from "../../base/nearest.ts";
import { typeCode, typeName } from "../record/presentation.ts";
import { WireError } from "../wire/bytes.ts";
import { encodeName, isAtOrBelow, textKey } from "../wire/name.ts";

export const queryFaultKinds = [
  "drop",
  "delay",
  "servfail",
  "refused",
  "truncate",
  "wrong_id",
  "lame",
  "stale",
  "propagation_delay",
  "lost_notify",
] as const;
export type QueryFaultKind = (typeof queryFaultKinds)[number];

const transports = ["udp", "tcp", "https"] as const;

/** What faults are matched with. A NOTIFY message is a question for the SOA of its zone. */
export interface FaultQuestion {
  /** In lower case, without the final dot */
  readonly name: string;
  readonly type: string;
  readonly transport: (typeof transports)[number] | "notify";
  /** The address of this server that was asked; for NOTIFY, the address of the secondary */
  readonly server: string | null;
}

/** The part of a fault that servers need. `null`: any. */
export interface FaultTarget {
  readonly kind: QueryFaultKind;
  /** A name in which `*` stands for any characters */
  readonly name: string | null;
  /** The names at and below this name */
  readonly zone: string | null;
  readonly types: readonly string[] | null;
  readonly transport: FaultQuestion["transport"] | null;
  readonly server: string | null;
  /** Of delays: 0 in other faults */
  readonly milliseconds: number;
}

/** A fault, with the queries that it hits among those that it matches. */
export interface QueryFault extends Required<FaultScheduleOptions> {
  readonly target: FaultTarget;
  readonly given: QueryFaultInput;
}

export interface QueryFaultInput {
  kind: QueryFaultKind;
  name?: string;
  zone?: string;
  type?: string | readonly string[];
  transport?: "udp" | "tcp" | "https";
  server?: string;
  by?: Duration;
  nth?: number;
  times?: number;
  probability?: number;
  seed?: number;
}

export class QueryFaultError extends Error {
  override name = "QueryFaultError";
}

const day = 86_400_000;
const millisecondsMax: Partial<Record<QueryFaultKind, number>> = {
  /** As of the record API: clients of the binding wait for 90 seconds. */
  delay: 60_000,
  propagation_delay: 30 * day,
};

const fields = {
  kind: true,
  name: true,
  zone: true,
  type: true,
  transport: true,
  server: true,
  by: true,
  nth: true,
  times: true,
  probability: true,
  seed: true,
} satisfies Record<keyof QueryFaultInput, true>;

/** Transfers have the zones as they are, and a secondary never follows a fault into the past. */
export const transferTypes: ReadonlySet<string> = new Set(["AXFR", "IXFR"]);

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
  const target: FaultTarget = {
    kind,
    name: given.name === undefined ? null : readName("name", given.name),
    zone: given.zone === undefined ? null : readName("zone", given.zone),
    types: given.type === undefined ? null : readTypes(given.type),
    transport:
      given.transport === undefined ? null : readWord("transport", given.transport, transports),
    server: given.server === undefined ? null : readText("server", given.server),
    milliseconds: readDelay(kind, given.by),
  };
  refuseWithoutEffect(target);
  return {
    target,
    given: input as QueryFaultInput,
    first: readCount("nth", given.nth) ?? 1,
    times: readCount("times", given.times) ?? (given.nth === undefined ? Infinity : 1),
    probability: readProbability(given.probability),
    seed: readSeed(given.seed),
  };
}

export function matchesQuestion(fault: FaultTarget, question: FaultQuestion): boolean {
  const { kind, name, zone, types, transport, server } = fault;
  if ((kind === "lost_notify") !== (question.transport === "notify")) return false;
  if (kind === "truncate" && question.transport !== "udp") return false;
  if (isOfPast(kind) && transferTypes.has(question.type)) return false;
  if (types !== null && !types.includes(question.type)) return false;
  if (transport !== null && transport !== question.transport) return false;
  if (server !== null && server !== question.server) return false;
  if (zone !== null && !isAtOrBelow(textKey(question.name), textKey(zone))) return false;
  return name === null || matchesPattern(toPlainPattern(name), question.name);
}

/** Whether the fault answers from earlier zones. */
export function isOfPast(kind: QueryFaultKind): boolean {
  return kind === "stale" || kind === "propagation_delay";
}

function refuseWithoutEffect({ kind, name, types, transport }: FaultTarget): void {
  if (kind === "truncate" && transport !== null && transport !== "udp") {
    throw new QueryFaultError('"truncate" has an effect over UDP only: give no other transport.');
  }
  if (isOfPast(kind) && types?.every((type) => transferTypes.has(type)) === true) {
    throw new QueryFaultError(`"${kind}" has no effect on transfers, which have the current zone.`);
  }
  if (kind !== "lost_notify") return;
  if (name !== null || types !== null || transport !== null) {
    throw new QueryFaultError(
      '"lost_notify" has a "zone" and a "server" (a secondary), and no name, type or transport.',
    );
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

function readDelay(kind: QueryFaultKind, by: unknown): number {
  const max = millisecondsMax[kind];
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

function readCount(field: string, value: unknown): number | null {
  if (value === undefined) return null;
  const isCount = Number.isInteger(value) && (value as number) >= 1;
  return isCount ? (value as number) : refuse(field, value, "give a whole number from 1");
}

function readProbability(value: unknown = 1): number {
  const isValid = typeof value === "number" && value >= 0 && value <= 1;
  return isValid ? value : refuse("probability", value, "give a number from 0 to 1");
}

function readSeed(value: unknown = 1): number {
  return Number.isInteger(value) ? (value as number) : refuse("seed", value, "give a whole number");
}

export interface ServedFault extends FaultTarget {
  readonly id: number;
}

export interface CountedFault extends QueryFaultInput {
  readonly matches: number;
  /** The queries that the fault has hit: at most the matches */
  readonly hits: number;
}

interface ArmedFault {
  readonly id: number;
  readonly fault: QueryFault;
  /** The test layer in which the fault was set; `null` outside of tests */
  readonly layer: number | null;
  /** Whether the fault is held by a connection, and ends with it */
  readonly isHeld: boolean;
  readonly schedule: FaultSchedule;
  matches: number;
  hits: number;
}

export class ArmedQueryFaults {
  #armed: ArmedFault[] = [];
  #count = 0;

  arm(fault: QueryFault, layer: number | null): void {
    this.#add(fault, layer, false);
  }

  /** Arms a fault until `release`. Returns its id. */
  hold(fault: QueryFault): number {
    return this.#add(fault, null, true);
  }

  release(ids: readonly number[]): void {
    this.#keep(({ id }) => !ids.includes(id));
  }

  hitsOf(id: number): number {
    return this.#armed.find((armed) => armed.id === id)?.hits ?? 0;
  }

  /** The id of the first fault that hits the question, or `null`. Every fault that matches counts it. */
  take(question: FaultQuestion): number | null {
    let taken: number | null = null;
    for (const armed of this.#armed) {
      if (!matchesQuestion(armed.fault.target, question)) continue;
      armed.matches += 1;
      if (armed.schedule.countCall() === null || taken !== null) continue;
      armed.hits += 1;
      taken = armed.id;
    }
    return taken;
  }

  /** Ends all faults but those that are held. Returns whether there were any. */
  clear(): boolean {
    return this.#keep(({ isHeld }) => isHeld);
  }

  /** Ends the faults of a test layer and of the layers above it. Returns whether there were any. */
  closeLayer(layer: number): boolean {
    return this.#keep((fault) => fault.layer === null || fault.layer < layer);
  }

  list(): CountedFault[] {
    return this.#armed.map(({ fault, matches, hits }) => ({ ...fault.given, matches, hits }));
  }

  served(): ServedFault[] {
    return this.#armed.map(({ id, fault }) => ({ id, ...fault.target }));
  }

  #add(fault: QueryFault, layer: number | null, isHeld: boolean): number {
    const schedule = new FaultSchedule(fault);
    const id = ++this.#count;
    this.#armed.push({ id, fault, layer, isHeld, schedule, matches: 0, hits: 0 });
    return id;
  }

  #keep(isKept: (fault: ArmedFault) => boolean): boolean {
    const before = this.#armed.length;
    this.#armed = this.#armed.filter(isKept);
    return this.#armed.length < before;
  }
}
