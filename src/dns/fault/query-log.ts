/**
 * The log of queries. Without a log, the last few queries are kept, for a reader that comes later. The
 * octets of a query are read when the log is read, so that a query costs little.
 */
import { Query, type QuerySource } from "../answer/query.ts";
import { formatIpv4, formatIpv6 } from "../record/ip-address.ts";
import { typeName } from "../record/presentation.ts";
import { WireError } from "../wire/bytes.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { decodeMessage, type Message } from "../wire/message.ts";
import { formatName } from "../wire/name.ts";
import { opcodes, rcodeName } from "../wire/numbers.ts";
import type { FaultQuestion, QueryFaultKind } from "./query-fault.ts";

export interface LoggedQuery extends FaultQuestion {
  /** The name in the case of the query */
  readonly askedName: string;
  /** `127.0.0.1:53124`, `[::1]:53124`; `null` over HTTPS, where the server does not know it */
  readonly clientAddress: string | null;
  /** Of the query, in this order: rd, ad, cd, do */
  readonly flags: readonly string[];
  /** The client subnet (RFC 7871) as `192.0.2.0/24` */
  readonly clientSubnet: string | null;
  /** The octets of the query; `null` for a NOTIFY message that was not sent */
  readonly queryBytes: number | null;
  /** The octets of the answer, of a transfer those of all its messages; `null` without an answer */
  readonly answerBytes: number | null;
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

/** What the log needs of a response. */
export interface ResponseSummary {
  /** The third and fourth octets of the response as one number; `null` without a response */
  readonly flags: number | null;
  readonly bytes: number;
}

export interface LogEntry extends Pick<
  LoggedQuery,
  "startedMilliseconds" | "milliseconds" | "fault"
> {
  /** `null` of a NOTIFY message that was not sent */
  readonly query: Uint8Array | null;
  readonly source: FaultQuestion | QuerySource;
  readonly response: ResponseSummary;
}

/** Of each server: a test looks at few queries, and a flood must not take the memory. */
const loggedMax = 5000;
/** Without a log. */
const recentMax = 200;
/** Of a query: a longer query has no room among the last few. */
const recentBytesMax = 512;

export class QueryLog {
  #entries: LogEntry[] = [];
  #number: number | null = null;
  readonly #recent = new RecentQueries();

  get isOn(): boolean {
    return this.#number !== null;
  }

  /**
   * @param number another number than the last starts a log; `null` ends the log
   * @param startsEmpty otherwise the log starts with the last queries before
   */
  start(number: number | null, startsEmpty: boolean): void {
    if (number === this.#number) return;
    const last = this.#entries.slice(-recentMax);
    if (startsEmpty || number === null) this.#entries = [];
    else if (this.#number === null) this.#entries = this.#recent.entries();
    this.#recent.clear();
    this.#number = number;
    if (number === null) for (const entry of last) this.#keep(entry);
  }

  add(entry: LogEntry): void {
    if (!this.isOn) return this.#keep(entry);
    // Twice the limit, so that the array moves rarely.
    if (this.#entries.length >= 2 * loggedMax) this.#entries = this.#entries.slice(-loggedMax);
    this.#entries.push(entry);
  }

  #keep({ query, source, startedMilliseconds, milliseconds, response, fault }: LogEntry): void {
    if (query === null) return;
    const { flags, bytes } = response;
    const duration = milliseconds - startedMilliseconds;
    this.#recent.add(query, source as QuerySource, milliseconds, duration, flags, bytes, fault);
  }

  /** While no log is on. Costs no memory. */
  get recent(): Pick<RecentQueries, "add"> {
    return this.#recent;
  }

  /** The queries that were answered at this time or later; without a log, those of the last few. */
  since(milliseconds: number): LoggedQuery[] {
    const entries = this.isOn ? this.#entries.slice(-loggedMax) : this.#recent.entries();
    // From the end: a follower asks for the last few of many.
    const before = entries.findLastIndex((entry) => entry.milliseconds < milliseconds);
    return entries.slice(before + 1).flatMap((entry) => describeEntry(entry) ?? []);
  }
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
    bytes: 0,
    fault: null as QueryFaultKind | null,
  }));
  #next = 0;

  /** Without objects: this is called for nearly all queries. */
  add(
    query: Uint8Array,
    source: QuerySource,
    milliseconds: number,
    duration: number,
    flags: number | null,
    bytes: number,
    fault: QueryFaultKind | null,
  ): void {
    if (query.length > recentBytesMax) return;
    const slot = this.#slots[this.#next]!;
    this.#octets.set(query, this.#next * recentBytesMax);
    slot.length = query.length;
    slot.source = source;
    slot.milliseconds = milliseconds;
    slot.duration = duration;
    slot.flags = flags;
    slot.bytes = bytes;
    slot.fault = fault;
    this.#next = (this.#next + 1) % recentMax;
  }

  /** From the first to the last. */
  entries(): LogEntry[] {
    const indices = this.#slots.map((_, index) => (this.#next + index) % recentMax);
    return indices.flatMap((index) => {
      const { length, source, milliseconds, duration, flags, bytes, fault } = this.#slots[index]!;
      if (source === null) return [];
      const start = index * recentBytesMax;
      return {
        query: this.#octets.slice(start, start + length),
        source,
        startedMilliseconds: milliseconds - duration,
        milliseconds,
        response: { flags, bytes },
        fault,
      };
    });
  }

  clear(): void {
    for (const slot of this.#slots) slot.source = null;
  }
}

export function flagsOf(response: Uint8Array): number {
  return (response[2]! << 8) | response[3]!;
}

/** `null`: the octets are no query with a question, and faults and the log ignore them. */
export function readQuestion(bytes: Uint8Array, source: QuerySource): FaultQuestion | null {
  if (bytes.length < headerBytes || bytes[2]! >>> 3 !== opcodes.QUERY) return null;
  const query = readWire(() => {
    const read = new Query();
    read.read(bytes);
    return read;
  });
  if (query === null || query.questions === 0) return null;
  const { transport, server = null } = source;
  const name = formatName(query.name).toLowerCase();
  const ednsSize = query.hasEdns ? query.udpBytesMax : null;
  return { name, type: typeName(query.type), transport, server, ednsSize };
}

/** `null` for malformed octets. */
function readWire<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}

/** Of the third and fourth octets of a response, as one number. */
const truncatedBit = 0x0200;
const rcodeBits = 0x000f;

function describeEntry(entry: LogEntry): LoggedQuery | null {
  const { query, source, startedMilliseconds, milliseconds, fault, response } = entry;
  const asked =
    query === null
      ? describeNotify(source as FaultQuestion)
      : describeQuery(query, source as QuerySource);
  const { flags, bytes } = response;
  if (asked === null) return null;
  return {
    ...asked,
    // Codes above 15 are in OPT, and are logged as their low bits.
    rcode: flags === null ? null : rcodeName(flags & rcodeBits),
    truncated: flags !== null && (flags & truncatedBit) !== 0,
    answerBytes: flags === null ? null : bytes,
    startedMilliseconds,
    milliseconds,
    fault,
  };
}

type Asked = Omit<
  LoggedQuery,
  "rcode" | "truncated" | "answerBytes" | "startedMilliseconds" | "milliseconds" | "fault"
>;

function describeNotify(question: FaultQuestion): Asked {
  return {
    ...question,
    askedName: question.name,
    clientAddress: null,
    flags: [],
    clientSubnet: null,
    queryBytes: null,
  };
}

function describeQuery(octets: Uint8Array, source: QuerySource): Asked | null {
  const question = readQuestion(octets, source);
  const message = readWire(() => decodeMessage(octets));
  if (question === null || message === null) return null;
  return {
    ...question,
    askedName: message.questions[0]!.name,
    clientAddress: source.clientAddress ?? null,
    flags: flagNames(message),
    clientSubnet: readClientSubnet(message.edns),
    queryBytes: octets.length,
    client: source.client,
  };
}

function flagNames(message: Message): string[] {
  const { recursionDesired: rd, authenticData: ad, checkingDisabled: cd, edns } = message;
  const flags = { rd, ad, cd, do: edns?.dnssecOk === true };
  return Object.entries(flags).flatMap(([name, isSet]) => (isSet ? name : []));
}

const clientSubnetCode = 8;
/** RFC 7871 section 6: the octets of the address end with the prefix. */
const addressFamilies: Readonly<Record<number, [bytes: number, format: typeof formatIpv4]>> = {
  1: [4, formatIpv4],
  2: [16, formatIpv6],
};

/** `null` without the option, and for an option that is malformed. */
function readClientSubnet(edns: Message["edns"]): string | null {
  const data = edns?.options.find(({ code }) => code === clientSubnetCode)?.data;
  if (data === undefined || data.length < 4) return null;
  const family = addressFamilies[(data[0]! << 8) | data[1]!];
  if (family === undefined) return null;
  const [length, format] = family;
  const prefix = data[2]!;
  const given = data.subarray(4);
  if (given.length !== Math.ceil(prefix / 8) || given.length > length) return null;
  const address = new Uint8Array(length);
  address.set(given);
  return `${format(address)}/${prefix}`;
}

/** The logs of several servers, in the order of the answers. */
export function mergeLogs(logs: readonly (readonly LoggedQuery[])[]): LoggedQuery[] {
  return logs.flat().sort((one, other) => one.milliseconds - other.milliseconds);
}

/** Longer than a server takes from the answer of a query to its log. */
const overlapMilliseconds = 2000;

/**
 * For a reader that follows a log: tells new queries from those of the last answer. Several servers log
 * queries, each at its own pace, so a query can appear after a query that was answered later. So each
 * question overlaps the last one, and what the last answer had already is left out.
 */
export class QueryWindow<LogQuery extends object> {
  readonly #timeOf: (query: LogQuery) => number;
  #sinceMilliseconds = 0;
  #hasGap = false;
  /** How often the last answer had each query of the overlap. */
  #seen: ReadonlyMap<string, number> = new Map();

  constructor(timeOf: (query: LogQuery) => number) {
    this.#timeOf = timeOf;
  }

  /** What the next question asks for. The first asks for everything, also from before the reader came. */
  get sinceMilliseconds(): number {
    return this.#sinceMilliseconds;
  }

  /** Whether the last answer has nothing of the answer before: the servers keep too few queries. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  /** @param queries all queries since `sinceMilliseconds`, by their time */
  take(queries: readonly LogQuery[]): LogQuery[] {
    const counts = new Map<string, number>();
    const added = queries.filter((query) => {
      const key = JSON.stringify(query);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count > (this.#seen.get(key) ?? 0);
    });
    this.#hasGap = this.#seen.size > 0 && added.length === queries.length;
    const last = queries.at(-1);
    const latest = last === undefined ? 0 : this.#timeOf(last);
    this.#sinceMilliseconds = Math.max(this.#sinceMilliseconds, latest - overlapMilliseconds);
    this.#seen = counts;
    return added;
  }
}
