/**
 * The queries of a server: faults of tests change the responses, and the log has all queries.
 *
 * The faults have no counts here. A query that a fault matches is described to `take`, which counts for
 * all servers and returns the id of the fault that hits the query.
 */
import type { QuerySource } from "../answer/query.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange } from "../rules/zone.ts";
import { textKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { ZoneHistory } from "./change-history.ts";
import { makeFaulty } from "./faulty-response.ts";
import { PastZones } from "./past-zones.ts";
import {
  isOfPast,
  matchesQuestion,
  transferTypes,
  type FaultQuestion,
  type ServedFault,
} from "./query-fault.ts";
import {
  flagsOf,
  QueryLog,
  readQuestion,
  type LoggedQuery,
  type LogEntry,
  type ResponseSummary,
} from "./query-log.ts";

/** What the companion worker tells all servers. */
export interface Observation {
  readonly faults: readonly ServedFault[];
  /** The number of the log. `null`: no log. */
  readonly log: number | null;
  /** Whether a new number starts an empty log. Otherwise the log starts with the last queries before. */
  readonly startsEmpty: boolean;
  /** The changes that a fault of the past undoes. */
  readonly history: readonly ZoneHistory[];
}

/** A response; `null` for none. An iterable is a transfer. */
export type Reply = Uint8Array | null | AsyncIterable<Uint8Array>;
export type LateReply = Promise<Uint8Array | null>;

export interface AnswerWays {
  answer(query: Uint8Array, source: QuerySource): Reply | LateReply;
  answerFrom(zones: ServedZones, query: Uint8Array, source: QuerySource): LateReply;
}

/** A query that a fault may hit. */
interface HitQuery {
  readonly question: FaultQuestion;
  readonly bytes: Uint8Array;
  readonly source: QuerySource;
  readonly ways: AnswerWays;
}

export interface ObservedQueriesOptions {
  readonly take: (question: FaultQuestion) => Promise<number | null>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly nowMilliseconds: () => number;
  /** A clock with fractions of milliseconds, for durations. */
  readonly tickMilliseconds: () => number;
}

/** A query that is being answered. */
interface Asked extends Pick<LogEntry, "query" | "source" | "startedMilliseconds"> {
  readonly startedTick: number;
}

/** RFC 1035 section 4.2.1. */
const plainUdpBytesMax = 512;
const noResponse: ResponseSummary = { flags: null, bytes: 0 };

export class ObservedQueries {
  readonly #options: ObservedQueriesOptions;
  #faults: readonly ServedFault[] = [];
  #zones: ServedZones | null = null;
  #past = new Map<number, PastZones>();
  readonly #log = new QueryLog();

  constructor(options: ObservedQueriesOptions) {
    this.#options = options;
  }

  /** @param zones the served zones, if a fault needs them (`needsZones`) */
  observe({ faults, log, startsEmpty, history }: Observation, zones: ServedZones): void {
    this.#faults = faults;
    this.#zones = zones;
    const before = this.#past;
    this.#past = new Map();
    for (const { id, kind, milliseconds } of faults) {
      if (!isOfPast(kind)) continue;
      const delay = kind === "stale" ? Infinity : milliseconds;
      const nowMilliseconds = this.#options.nowMilliseconds();
      const past = before.get(id) ?? new PastZones(zones, delay, { history, nowMilliseconds });
      this.#past.set(id, past);
    }
    this.#log.start(log, startsEmpty);
  }

  /** To be called after each change of the served zones; `null` when a zone was replaced or removed. */
  onZoneChange(zones: ServedZones, zoneId: string, change: ZoneChange | null): void {
    if (this.#past.size === 0) return;
    const now = this.#options.nowMilliseconds();
    for (const past of this.#past.values()) past.follow(zones, { zoneId, change }, now);
  }

  /** @param sinceMilliseconds the queries that were answered then or later */
  logged(sinceMilliseconds = 0): LoggedQuery[] {
    return this.#log.since(sinceMilliseconds);
  }

  handle(bytes: Uint8Array, source: QuerySource, ways: AnswerWays): Reply | LateReply {
    if (!this.#log.isOn && this.#faults.length === 0) return this.#keep(bytes, source, ways);
    const question = this.#faults.length === 0 ? null : readQuestion(bytes, source);
    const isHit =
      question !== null && this.#faults.some((fault) => matchesQuestion(fault, question));
    // The octets of a query can be a part of a large buffer.
    const asked = this.#begin(new Uint8Array(bytes), source);
    if (!isHit) return this.#logReply(asked, ways.answer(bytes, source), null);
    const reply = this.#inject({ question, bytes, source, ways }, asked);
    const isStream = ["tcp", "tls"].includes(source.transport);
    return isStream && transferTypes.has(question.type) ? stream(reply) : (reply as LateReply);
  }

  /** Whether a NOTIFY message for a zone is lost on its way to a secondary. */
  async losesNotify(zone: string, secondary: string): Promise<boolean> {
    const question: FaultQuestion = {
      name: zone.toLowerCase(),
      type: "SOA",
      transport: "notify",
      server: secondary,
      ednsSize: null,
    };
    if (!this.#faults.some((fault) => matchesQuestion(fault, question))) return false;
    const asked = this.#begin(null, question);
    const isLost = (await this.#options.take(question)) !== null;
    if (isLost) this.#add(asked, noResponse, "lost_notify");
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
    } else return this.#logStream(this.#begin(new Uint8Array(bytes), source), reply, null);
    return reply;
  }

  #end(bytes: Uint8Array, source: QuerySource, started: number, response: Uint8Array | null): void {
    const { nowMilliseconds: now, tickMilliseconds: tick } = this.#options;
    const flags = response === null ? null : flagsOf(response);
    const length = response === null ? 0 : response.length;
    this.#log.recent.add(bytes, source, now(), tick() - started, flags, length, null);
  }

  #begin(query: Asked["query"], source: Asked["source"]): Asked {
    const { nowMilliseconds: now, tickMilliseconds: tick } = this.#options;
    return { query, source, startedMilliseconds: now(), startedTick: tick() };
  }

  async #inject(hit: HitQuery, asked: Asked): Promise<Reply> {
    const { question, bytes, source, ways } = hit;
    const id = await this.#options.take(question);
    const fault = this.#faults.find((each) => each.id === id);
    if (fault === undefined) {
      return this.#logReply(asked, await ways.answer(bytes, source), null) as Reply;
    }
    const reply = await this.#faultyReply(fault, hit);
    const logged = this.#logReply(asked, reply, fault.kind) as Reply;
    if (fault.kind !== "other_port" || !(logged instanceof Uint8Array)) return logged;
    source.sendFromOtherPort?.(logged);
    return null;
  }

  async #faultyReply(fault: ServedFault, hit: HitQuery): Promise<Reply> {
    const { kind, id, milliseconds } = fault;
    const { bytes, source, ways } = hit;
    if (kind === "drop" || kind === "lost_notify") return null;
    if (kind === "tcp_reset") {
      source.reset?.();
      return null;
    }
    const past = this.#past.get(id);
    if (past !== undefined) {
      return ways.answerFrom(past.at(this.#options.nowMilliseconds()), bytes, source);
    }
    if (kind === "delay") await this.#options.wait(milliseconds);
    const reply = await ways.answer(bytes, source);
    const { soa, bytesMax } = this.#surroundings(hit);
    const change = (base: Uint8Array): Uint8Array => makeFaulty(fault, { base, soa, bytesMax });
    if (reply instanceof Uint8Array) return change(reply);
    if (kind === "delay" || kind === "other_port") return reply;
    if (kind === "wrong_id") return reply === null ? null : mapEach(reply, change);
    // A transfer has many messages; the query has the same question and OPT.
    return change(bytes);
  }

  /** What a response depends on beside the fault. */
  #surroundings({ question }: HitQuery): { soa: RecordSet | null; bytesMax: number } {
    const { name, transport, ednsSize } = question;
    const zone = this.#zones?.findFor(textKey(name), typeCodes.SOA);
    const udpMax = Math.max(ednsSize ?? 0, plainUdpBytesMax);
    return { soa: zone?.negativeSoa ?? null, bytesMax: transport === "udp" ? udpMax : Infinity };
  }

  #logReply(
    asked: Asked,
    reply: Reply | LateReply,
    fault: LoggedQuery["fault"],
  ): Reply | LateReply {
    const add = (response: Uint8Array | null): Uint8Array | null => {
      this.#add(asked, summaryOf(response), fault);
      return response;
    };
    if (reply === null || reply instanceof Uint8Array) return add(reply);
    return reply instanceof Promise ? reply.then(add) : this.#logStream(asked, reply, fault);
  }

  async *#logStream(
    asked: Asked,
    messages: AsyncIterable<Uint8Array>,
    fault: LoggedQuery["fault"],
  ): AsyncGenerator<Uint8Array, void> {
    let all = noResponse;
    try {
      for await (const message of messages) {
        const { flags, bytes } = all;
        all = { flags: flags ?? flagsOf(message), bytes: bytes + message.length };
        yield message;
      }
    } finally {
      this.#add(asked, all, fault);
    }
  }

  #add(asked: Asked, response: ResponseSummary, fault: LoggedQuery["fault"]): void {
    const { startedTick, ...logged } = asked;
    const milliseconds = asked.startedMilliseconds + this.#options.tickMilliseconds() - startedTick;
    this.#log.add({ ...logged, milliseconds, response, fault });
  }
}

function summaryOf(response: Uint8Array | null): ResponseSummary {
  return response === null ? noResponse : { flags: flagsOf(response), bytes: response.length };
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
