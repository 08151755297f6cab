/**
 * The queries of a server: faults of tests change the responses, and the log has all queries. Without a
 * log, the last few queries are kept, for a page that opens later. The octets of a query are read when
 * the log is read, so that a query costs little.
 *
 * The faults have no counts here. A query that a fault matches is described to `take`, which counts for
 * all servers and returns the id of the fault that hits the query.
 */
import { Query, type QuerySource } from "../answer/query.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import { typeName } from "../record/presentation.ts";
import type { ZoneChange } from "../rules/zone.ts";
import { WireError } from "../wire/bytes.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { blankMessage, decodeMessage, encodeMessage, type Message } from "../wire/message.ts";
import { formatName } from "../wire/name.ts";
import { opcodes, rcodeName, rcodes } from "../wire/numbers.ts";
import { PastZones } from "./past-zones.ts";
import {
  isOfPast,
  matchesQuestion,
  transferTypes,
  type FaultQuestion,
  type QueryFaultKind,
  type ServedFault,
} from "./query-fault.ts";

/** What the companion worker tells all servers. */
export interface Observation {
  readonly faults: readonly ServedFault[];
  /** The number of the log. `null`: no log. */
  readonly log: number | null;
  /** Whether a new number starts an empty log. Otherwise the log starts with the last queries before. */
  readonly startsEmpty: boolean;
}

export interface LoggedQuery extends FaultQuestion {
  /** When the answer was ready, in milliseconds since 1970 */
  readonly milliseconds: number;
  readonly startedMilliseconds: number;
  /** The program that has asked, if it says so */
  readonly client?: string;
  /** The name of the answer's code; `null` without an answer */
  readonly rcode: string | null;
  readonly truncated: boolean;
  readonly fault: QueryFaultKind | null;
}

/** Of each server: a test looks at few queries, and a flood must not take the memory. */
const loggedMax = 5000;
/** Without a log. */
const recentMax = 200;
/** Of a query: a longer query has no room among the last few. */
const recentBytesMax = 512;

/** A response; `null` for none. An iterable is a transfer. */
export type Reply = Uint8Array | null | AsyncIterable<Uint8Array>;
export type LateReply = Promise<Uint8Array | null>;

export interface AnswerWays {
  answer(query: Uint8Array, source: QuerySource): Reply | LateReply;
  answerFrom(zones: ServedZones, query: Uint8Array, source: QuerySource): LateReply;
}

/** The same for one query. */
interface BoundWays {
  readonly answer: () => Reply | LateReply;
  readonly answerFrom: (zones: ServedZones) => LateReply;
}

export interface ObservedQueriesOptions {
  readonly take: (question: FaultQuestion) => Promise<number | null>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly nowMilliseconds: () => number;
  /** A clock with fractions of milliseconds, for durations. */
  readonly tickMilliseconds: () => number;
}

/** A question, and what the log says of it beside the answer. */
interface Asked {
  /** `null`: the octets are no query with a question, and the log leaves them out. */
  readonly readQuestion: () => FaultQuestion | null;
  readonly client: string | undefined;
  readonly startedMilliseconds: number;
  readonly startedTick: number;
}

type LogEntry = Pick<Asked, "readQuestion"> & Omit<LoggedQuery, keyof FaultQuestion>;

/** Of the third and fourth octets of a response, as one number. */
const truncatedBit = 0x0200;
const rcodeBits = 0x000f;

const rcodesWithoutRecords: Partial<Record<QueryFaultKind, number>> = {
  servfail: rcodes.SERVFAIL,
  refused: rcodes.REFUSED,
  lame: rcodes.NOERROR,
};

export class ObservedQueries {
  readonly #options: ObservedQueriesOptions;
  #faults: readonly ServedFault[] = [];
  #past = new Map<number, PastZones>();
  #logged: LogEntry[] = [];
  #logNumber: number | null = null;
  readonly #recent = new RecentQueries();

  constructor(options: ObservedQueriesOptions) {
    this.#options = options;
  }

  /** @param zones the served zones, from which faults of the past start */
  observe({ faults, log, startsEmpty }: Observation, zones: ServedZones): void {
    this.#faults = faults;
    const before = this.#past;
    this.#past = new Map();
    for (const { id, kind, milliseconds } of faults) {
      if (!isOfPast(kind)) continue;
      const delay = kind === "stale" ? Infinity : milliseconds;
      this.#past.set(id, before.get(id) ?? new PastZones(zones, delay));
    }
    if (log !== this.#logNumber) {
      if (startsEmpty || log === null) this.#logged = [];
      else if (this.#logNumber === null) this.#logged = this.#recent.entries();
      this.#recent.clear();
    }
    this.#logNumber = log;
  }

  /** To be called after each change of the served zones; `null` when a zone was replaced or removed. */
  onZoneChange(zones: ServedZones, zoneId: string, change: ZoneChange | null): void {
    if (this.#past.size === 0) return;
    const now = this.#options.nowMilliseconds();
    for (const past of this.#past.values()) past.follow(zones, { zoneId, change }, now);
  }

  /** @param sinceMilliseconds the queries that were answered then or later */
  logged(sinceMilliseconds = 0): LoggedQuery[] {
    const queries = this.#logged.slice(-loggedMax);
    // From the end: a follower asks for the last few of many.
    const before = queries.findLastIndex(({ milliseconds }) => milliseconds < sinceMilliseconds);
    return queries.slice(before + 1).flatMap(({ readQuestion: read, ...logged }) => {
      const question = read();
      return question === null ? [] : { ...question, ...logged };
    });
  }

  handle(bytes: Uint8Array, source: QuerySource, ways: AnswerWays): Reply | LateReply {
    if (this.#logNumber === null && this.#faults.length === 0) {
      return this.#keep(bytes, source, ways);
    }
    const question = this.#faults.length === 0 ? null : readQuestion(bytes, source);
    const isHit =
      question !== null && this.#faults.some((fault) => matchesQuestion(fault, question));
    // The octets of a query can be a part of a large buffer.
    const octets = isHit ? bytes : new Uint8Array(bytes);
    const asked = this.#begin(() => question ?? readQuestion(octets, source), source.client);
    if (!isHit) return this.#logReply(asked, ways.answer(bytes, source), null);
    const reply = this.#inject(bytes, asked, {
      answer: () => ways.answer(bytes, source),
      answerFrom: (zones) => ways.answerFrom(zones, bytes, source),
    });
    const isTransfer = question.transport === "tcp" && transferTypes.has(question.type);
    return isTransfer ? stream(reply) : (reply as LateReply);
  }

  /** Whether a NOTIFY message for a zone is lost on its way to a secondary. */
  async losesNotify(zone: string, secondary: string): Promise<boolean> {
    const question: FaultQuestion = {
      name: zone.toLowerCase(),
      type: "SOA",
      transport: "notify",
      server: secondary,
    };
    if (!this.#faults.some((fault) => matchesQuestion(fault, question))) return false;
    const asked = this.#begin(() => question);
    const isLost = (await this.#options.take(question)) !== null;
    if (isLost) this.#add(asked, null, "lost_notify");
    return isLost;
  }

  /** The way of nearly all queries: an answer that is there at once costs no memory. */
  #keep(bytes: Uint8Array, source: QuerySource, ways: AnswerWays): Reply | LateReply {
    const started = this.#options.tickMilliseconds();
    const reply = ways.answer(bytes, source);
    if (reply === null || reply instanceof Uint8Array) this.#end(bytes, source, started, reply);
    else if (reply instanceof Promise) {
      // The octets of a query can be a part of a buffer that is used again.
      const octets = new Uint8Array(bytes);
      reply.then((response) => this.#end(octets, source, started, response)).catch(() => {});
    }
    return reply;
  }

  #end(bytes: Uint8Array, source: QuerySource, started: number, response: Uint8Array | null): void {
    const { nowMilliseconds: now, tickMilliseconds: tick } = this.#options;
    this.#recent.add(bytes, source, now(), tick() - started, response);
  }

  #begin(read: Asked["readQuestion"], client?: string): Asked {
    const { nowMilliseconds: now, tickMilliseconds: tick } = this.#options;
    return { readQuestion: read, client, startedMilliseconds: now(), startedTick: tick() };
  }

  async #inject(bytes: Uint8Array, asked: Asked, ways: BoundWays): Promise<Reply> {
    const id = await this.#options.take(asked.readQuestion()!);
    const fault = this.#faults.find((each) => each.id === id);
    if (fault === undefined) return this.#logReply(asked, await ways.answer(), null) as Reply;
    const reply = await this.#faultyReply(fault, bytes, ways);
    return this.#logReply(asked, reply, fault.kind) as Reply;
  }

  async #faultyReply(fault: ServedFault, bytes: Uint8Array, ways: BoundWays): Promise<Reply> {
    const { kind, id, milliseconds } = fault;
    if (kind === "drop" || kind === "lost_notify") return null;
    if (isOfPast(kind)) {
      const past = this.#past.get(id);
      return past === undefined
        ? ways.answer()
        : ways.answerFrom(past.at(this.#options.nowMilliseconds()));
    }
    if (kind === "delay") await this.#options.wait(milliseconds);
    const reply = await ways.answer();
    const rcode = rcodesWithoutRecords[kind];
    // A transfer has many messages; the query has the same question and OPT.
    if (rcode !== undefined) {
      return withoutRecords(reply instanceof Uint8Array ? reply : bytes, { rcode });
    }
    if (kind === "wrong_id") return changeEach(reply, withWrongId);
    if (kind !== "truncate" || !(reply instanceof Uint8Array)) return reply;
    const { rcode: own, authoritative } = decodeMessage(reply);
    return withoutRecords(reply, { rcode: own, authoritative, truncated: true });
  }

  #logReply(
    asked: Asked,
    reply: Reply | LateReply,
    fault: LoggedQuery["fault"],
  ): Reply | LateReply {
    if (reply === null || reply instanceof Uint8Array) {
      this.#add(asked, reply, fault);
      return reply;
    }
    if (reply instanceof Promise) {
      return reply.then((response) => {
        this.#add(asked, response, fault);
        return response;
      });
    }
    let isFirst = true;
    return changeEach(reply, (message) => {
      if (isFirst) this.#add(asked, message, fault);
      isFirst = false;
      return message;
    });
  }

  #add(asked: Asked, response: Uint8Array | null, fault: LoggedQuery["fault"]): void {
    const { startedTick, ...logged } = asked;
    if (this.#logNumber === null) return;
    // Twice the limit, so that the array moves rarely.
    if (this.#logged.length >= 2 * loggedMax) this.#logged = this.#logged.slice(-loggedMax);
    this.#logged.push({
      ...logged,
      milliseconds: asked.startedMilliseconds + this.#options.tickMilliseconds() - startedTick,
      ...describeFlags(response === null ? null : (response[2]! << 8) | response[3]!),
      fault,
    });
  }
}

/** @param flags the third and fourth octets of a response; `null` without a response */
function describeFlags(flags: number | null): Pick<LoggedQuery, "rcode" | "truncated"> {
  return {
    // Codes above 15 are in OPT, and are logged as their low bits.
    rcode: flags === null ? null : rcodeName(flags & rcodeBits),
    truncated: flags !== null && (flags & truncatedBit) !== 0,
  };
}

/** The last queries, in memory that is used again. */
class RecentQueries {
  readonly #octets = new Uint8Array(recentMax * recentBytesMax);
  readonly #slots = Array.from({ length: recentMax }, () => ({
    length: 0,
    source: null as QuerySource | null,
    milliseconds: 0,
    duration: 0,
    flags: null as number | null,
  }));
  #next = 0;

  add(
    bytes: Uint8Array,
    source: QuerySource,
    milliseconds: number,
    duration: number,
    response: Uint8Array | null,
  ): void {
    if (bytes.length > recentBytesMax) return;
    const slot = this.#slots[this.#next]!;
    this.#octets.set(bytes, this.#next * recentBytesMax);
    slot.length = bytes.length;
    slot.source = source;
    slot.milliseconds = milliseconds;
    slot.duration = duration;
    slot.flags = response === null ? null : (response[2]! << 8) | response[3]!;
    this.#next = (this.#next + 1) % recentMax;
  }

  /** From the first to the last. */
  entries(): LogEntry[] {
    const indices = this.#slots.map((_, index) => (this.#next + index) % recentMax);
    return indices.flatMap((index) => {
      const { length, source, milliseconds, duration, flags } = this.#slots[index]!;
      if (source === null) return [];
      const start = index * recentBytesMax;
      const octets = this.#octets.slice(start, start + length);
      return {
        readQuestion: () => readQuestion(octets, source),
        client: source.client,
        startedMilliseconds: milliseconds - duration,
        milliseconds,
        ...describeFlags(flags),
        fault: null,
      };
    });
  }

  clear(): void {
    for (const slot of this.#slots) slot.source = null;
  }
}

/** `null`: the octets are no query with a question, and faults and the log ignore them. */
function readQuestion(bytes: Uint8Array, source: QuerySource): FaultQuestion | null {
  if (bytes.length < headerBytes || bytes[2]! >>> 3 !== opcodes.QUERY) return null;
  const query = new Query();
  try {
    query.read(bytes);
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
  if (query.questions === 0) return null;
  const { transport, server = null } = source;
  const name = formatName(query.name).toLowerCase();
  return { name, type: typeName(query.type), transport, server };
}

function changeEach(reply: Reply, change: (message: Uint8Array) => Uint8Array): Reply {
  if (reply === null) return null;
  if (reply instanceof Uint8Array) return change(reply);
  return mapEach(reply, change);
}

async function* mapEach(
  messages: AsyncIterable<Uint8Array>,
  change: (message: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array, void> {
  for await (const message of messages) yield change(message);
}

/** A transfer whose fault is not known yet. */
async function* stream(reply: Promise<Reply>): AsyncGenerator<Uint8Array, void> {
  const messages = await reply;
  if (messages === null) return;
  if (messages instanceof Uint8Array) yield messages;
  else yield* messages;
}

/**
 * The question and OPT without any record. OPT stays, as in every response to a query with OPT
 * (RFC 6891 section 7).
 */
function withoutRecords(base: Uint8Array, flags: Partial<Message>): Uint8Array {
  const { id, questions, recursionDesired, checkingDisabled, edns } = decodeMessage(base);
  const kept = { id, questions, recursionDesired, checkingDisabled, edns };
  const response = { ...blankMessage, ...kept, response: true, ...flags };
  return encodeMessage(response);
}

/** Every bit of the identifier differs. */
function withWrongId(response: Uint8Array): Uint8Array {
  const changed = response.slice();
  changed[0]! ^= 0xff;
  changed[1]! ^= 0xff;
  return changed;
}

/** The logs of several servers, in the order of the answers. */
export function mergeLogs(logs: readonly (readonly LoggedQuery[])[]): LoggedQuery[] {
  return logs.flat().sort((one, other) => one.milliseconds - other.milliseconds);
}
