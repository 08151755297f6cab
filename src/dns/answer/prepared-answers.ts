/**
 * Messages that are complete except for the identifier, the case of the question and OPT. They are
 * valid until the zones change. Only answers for names that exist are kept, so queries for other
 * names cannot displace them; the limits bound the number of types that clients query.
 */
import { typeName } from "../record/presentation.ts";
import type { QueryCount } from "../rules/query-report.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { formatName, keyOctets, lowerCase, nameKey, type NameKey } from "../wire/name.ts";
import { rcodeName } from "../wire/numbers.ts";
import type { Answer } from "./answer.ts";
import type { Query } from "./query.ts";

const answersMax = 50_000;
const bytesMax = 64 * 1024 * 1024;

export interface PreparedAnswer {
  readonly answer: Answer;
  /** The whole message without OPT, with the question in the case of some earlier query. */
  readonly message: Uint8Array;
  readonly type: number;
  /** The queries that this message has answered and that are not counted elsewhere. */
  queries: number;
  readonly next: PreparedAnswer | undefined;
}

export class PreparedAnswers {
  readonly #byHash = new Map<number, PreparedAnswer>();
  readonly #counts: QueryCounts;
  #revision = 0;
  #count = 0;
  #bytes = 0;

  constructor(counts: QueryCounts) {
    this.#counts = counts;
  }

  get(query: Query, revision: number): PreparedAnswer | undefined {
    if (revision !== this.#revision) {
      this.#clear();
      this.#revision = revision;
      return undefined;
    }
    let entry = this.#byHash.get(query.hash);
    while (entry !== undefined && !isFor(entry, query)) entry = entry.next;
    return entry;
  }

  put(query: Query, answer: Answer, message: Uint8Array): void {
    if (this.#count >= answersMax || this.#bytes + message.length > bytesMax) this.#clear();
    const next = this.#byHash.get(query.hash);
    this.#byHash.set(query.hash, { answer, message, type: query.type, queries: 1, next });
    this.#count += 1;
    this.#bytes += message.length;
  }

  /** Moves the numbers of queries to the counts. */
  count(): void {
    for (let entry of this.#byHash.values()) {
      for (;;) {
        const { message, type, answer, queries, next } = entry;
        if (queries > 0) this.#counts.add(questionName(message), type, answer.rcode, queries);
        entry.queries = 0;
        if (next === undefined) break;
        entry = next;
      }
    }
  }

  #clear(): void {
    this.count();
    this.#byHash.clear();
    this.#count = 0;
    this.#bytes = 0;
  }
}

function isFor({ message, type }: PreparedAnswer, query: Query): boolean {
  if (type !== query.type) return false;
  const { bytes, end } = query;
  for (let at = headerBytes; at < end; at++) {
    if (lowerCase[message[at]!] !== lowerCase[bytes[at]!]) return false;
  }
  return true;
}

/** The name of the question, which starts after the header and is not compressed. */
function questionName(message: Uint8Array): Uint8Array {
  let end = headerBytes;
  while (message[end] !== 0) end += message[end]! + 1;
  return message.subarray(headerBytes, end + 1);
}

const countsMax = 20_000;

/**
 * Counts the queries of a server by name, type and RCODE. The number of different names is bounded:
 * a client can ask for any number of names that do not exist.
 */
export class QueryCounts {
  readonly #counts = new Map<string, number>();

  /** @param name as octets, in any case */
  add(name: Uint8Array, type: number, rcode: number, count: number): void {
    const key = `${type} ${rcode} ${nameKey(name)}`;
    const known = this.#counts.get(key);
    if (known !== undefined || this.#counts.size < countsMax) {
      this.#counts.set(key, (known ?? 0) + count);
    }
  }

  list(): QueryCount[] {
    return Array.from(this.#counts, ([key, count]) => {
      const [type = "", rcode = ""] = key.split(" ", 2);
      const name: NameKey = key.slice(type.length + rcode.length + 2);
      return {
        name: formatName(keyOctets(name)),
        type: typeName(Number(type)),
        rcode: rcodeName(Number(rcode)),
        count,
      };
    });
  }
}
