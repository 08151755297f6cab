/** The last queries of a server, with their answers. The number of queries is bounded. */
import { rcodeName } from "../wire/numbers.ts";
import type { FaultQuestion, QueryFaultKind } from "./query-fault.ts";

export interface LoggedQuery extends FaultQuestion {
  /** When the answer was ready, in milliseconds since 1970 */
  readonly milliseconds: number;
  /** When the query arrived */
  readonly startedMilliseconds: number;
  /** The program that has asked, if it says so */
  readonly client?: string;
  /** The name of the answer's code; `null` without an answer */
  readonly rcode: string | null;
  readonly truncated: boolean;
  /** The fault that hit the query */
  readonly fault: QueryFaultKind | null;
}

/** Of each server: a test looks at few queries, and a flood must not take the memory. */
const queriesMax = 5000;

export class QueryLog {
  readonly #max: number;
  #queries: LoggedQuery[] = [];

  constructor(max = queriesMax) {
    this.#max = max;
  }

  add(query: LoggedQuery): void {
    // Twice the limit, so that the array moves rarely.
    if (this.#queries.length >= 2 * this.#max) this.#queries = this.#queries.slice(-this.#max);
    this.#queries.push(query);
  }

  /** @param sinceMilliseconds the queries that were answered then or later */
  list(sinceMilliseconds = 0): LoggedQuery[] {
    const queries = this.#queries.slice(-this.#max);
    if (sinceMilliseconds === 0) return queries;
    // From the end: a follower asks for the last few of many.
    const before = queries.findLastIndex(({ milliseconds }) => milliseconds < sinceMilliseconds);
    return queries.slice(before + 1);
  }

  clear(): void {
    this.#queries = [];
  }
}

/** The logs of several servers, in the order of the answers. */
export function mergeLogs(logs: readonly (readonly LoggedQuery[])[]): LoggedQuery[] {
  return logs.flat().sort((one, other) => one.milliseconds - other.milliseconds);
}

const truncatedBit = 0x02;
const rcodeBits = 0x0f;

/** What the log says of a response. Codes above 15 are in OPT, and are logged as their low bits. */
export function describeResponse(
  response: Uint8Array | null,
): Pick<LoggedQuery, "rcode" | "truncated"> {
  if (response === null) return { rcode: null, truncated: false };
  return {
    rcode: rcodeName(response[3]! & rcodeBits),
    truncated: (response[2]! & truncatedBit) !== 0,
  };
}
