/**
 * Addresses of external names (names that no zone of this server contains), which flattening needs.
 * Answers use only the cache. An answer whose addresses the cache does not have is made in two
 * steps: the first gives the question, which a resolver answers into the cache; then the query is
 * answered again. Only targets of a zone's own CNAMEs get here, so clients cannot fill the cache;
 * its size is bounded as well.
 */
import type { SignaturesNeeded } from "../dnssec/answer-signer.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { formatName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";

export interface ExternalQuestion {
  readonly name: string;
  readonly type: "A" | "AAAA";
}

/** No addresses: the name has none of this family, or does not exist. */
export type ExternalResult =
  | { readonly addresses: readonly string[]; readonly ttlSeconds: number }
  | "failed";

export interface ExternalAddresses {
  readonly data: readonly Uint8Array[];
  readonly ttlSeconds: number;
}

/** In place of an answer: the cache does not have the addresses that the answer needs. */
export interface ExternalNeeded {
  readonly kind: "external";
  readonly question: ExternalQuestion;
}

export function isExternalNeeded(result: object | null): result is ExternalNeeded {
  return result !== null && "question" in result;
}

/** RFC 2308 section 7.1 allows up to five minutes; a local network recovers sooner. */
const failureSeconds = 5;
const entriesMax = 10_000;
/** The result must stay valid until the waiting query is answered. */
const ttlSecondsMin = 1;
/** A result can expire, or the zones can change, before the response is made. */
const roundsMax = 8;

/** @param type the code of A or AAAA */
export function externalQuestion(name: Uint8Array, type: number): ExternalQuestion {
  return { name: formatName(name), type: type === typeCodes.A ? "A" : "AAAA" };
}

function keyOf({ name, type }: ExternalQuestion): string {
  return `${type} ${name.toLowerCase()}`;
}

/** The addresses that answers use. */
export type KnownAddresses = Pick<ExternalAddressCache, "get">;

export class ExternalAddressCache {
  /** `data` is `null` for a failure; `last` is the last result that was no failure. */
  readonly #entries = new Map<
    string,
    {
      readonly data: readonly Uint8Array[] | null;
      readonly expiresSeconds: number;
      readonly last: ExternalAddresses | undefined;
    }
  >();

  put(question: ExternalQuestion, result: ExternalResult, nowSeconds: number): void {
    const key = keyOf(question);
    const before = this.#entries.get(key);
    this.#entries.delete(key);
    // A map keeps the order of insertion: the first entry is the oldest.
    const [oldest] = this.#entries.size < entriesMax ? [] : this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
    if (result === "failed") {
      const expiresSeconds = nowSeconds + failureSeconds;
      this.#entries.set(key, { data: null, expiresSeconds, last: before?.last });
      return;
    }
    const parse = question.type === "A" ? parseIpv4 : parseIpv6;
    const data = result.addresses.map(parse).filter((octets) => octets !== null);
    const ttlSeconds = Math.max(ttlSecondsMin, result.ttlSeconds);
    const last = { data, ttlSeconds };
    this.#entries.set(key, { data, expiresSeconds: nowSeconds + ttlSeconds, last });
  }

  /** The last result that was no failure, also when it has expired, with its whole TTL. */
  last(question: ExternalQuestion): ExternalAddresses | undefined {
    return this.#entries.get(keyOf(question))?.last;
  }

  /** `undefined`: the resolver was not asked yet, or its result has expired. */
  get(question: ExternalQuestion, nowSeconds: number): ExternalAddresses | "failed" | undefined {
    const entry = this.#entries.get(keyOf(question));
    if (entry === undefined || entry.expiresSeconds <= nowSeconds) return undefined;
    if (entry.data === null) return "failed";
    return { data: entry.data, ttlSeconds: Math.floor(entry.expiresSeconds - nowSeconds) };
  }
}

/**
 * Addresses for transfers, from the results of another cache. A secondary keeps what it gets until
 * the next serial, so a result that has expired is better than none.
 */
export function lastAddresses(results: ExternalAddressCache): KnownAddresses {
  return { get: (question, now) => results.last(question) ?? results.get(question, now) };
}

export type ResolveExternal = (question: ExternalQuestion) => Promise<ExternalResult>;

export interface ExternalResolution {
  readonly external: ExternalAddressCache;
  readonly resolve: ResolveExternal;
  readonly nowSeconds: () => number;
  /** Makes signatures; needed only with a signer that cannot make them itself. */
  readonly sign?: (needed: SignaturesNeeded) => Promise<void>;
}

export type Needed = ExternalNeeded | SignaturesNeeded;

function isNeeded(result: object | null): result is Needed {
  return isExternalNeeded(result) || (result !== null && "requests" in result);
}

export async function resolveIntoCache(
  question: ExternalQuestion,
  { external, resolve, nowSeconds }: ExternalResolution,
): Promise<void> {
  external.put(question, await resolve(question), nowSeconds());
}

/**
 * The second step. Resolves to `null` when something is still missing after the last round.
 *
 * @param first the result of the first `respond()`
 */
export async function respondAfterResolving<Result extends object | null>(
  first: Result | Needed,
  respond: () => Result | Needed,
  resolution: ExternalResolution,
): Promise<Result | null> {
  let result = first;
  for (let round = 0; isNeeded(result); round++) {
    if (round === roundsMax) return null;
    if (result.kind === "external") await resolveIntoCache(result.question, resolution);
    else await resolution.sign?.(result);
    result = respond();
  }
  return result;
}
