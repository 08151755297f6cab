/**
 * What a resolver said about names that no zone here has: flattening needs their addresses. An
 * answer is believed for its TTL, a failure for a moment only. The number of names is bounded, and
 * only a zone's own targets get here: who asks cannot fill it.
 */
import { parseIpv4, parseIpv6 } from "../record/field/ip-address.ts";

export interface ExternalQuestion {
  readonly name: string;
  readonly type: "A" | "AAAA";
}

export type ExternalResult =
  /** No addresses: the name has none of that family, or does not exist. */
  { readonly addresses: readonly string[]; readonly ttlSeconds: number } | "failed";

export interface ExternalAddresses {
  readonly data: readonly Uint8Array[];
  readonly ttlSeconds: number;
}

/** RFC 2308 section 7.1 allows up to five minutes; a local network comes back sooner. */
const failureSeconds = 5;
const entriesMax = 10_000;
/** An answer must live until the question that waits for it is asked again. */
const ttlSecondsMin = 1;

interface Entry {
  readonly data: readonly Uint8Array[] | null;
  readonly expiresSeconds: number;
}

function keyOf({ name, type }: ExternalQuestion): string {
  return `${type} ${name.toLowerCase()}`;
}

export class ExternalAddressCache {
  readonly #entries = new Map<string, Entry>();

  put(question: ExternalQuestion, result: ExternalResult, nowSeconds: number): void {
    const key = keyOf(question);
    this.#entries.delete(key);
    // The first is the one that was put longest ago.
    if (this.#entries.size >= entriesMax) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    if (result === "failed") {
      this.#entries.set(key, { data: null, expiresSeconds: nowSeconds + failureSeconds });
      return;
    }
    const parse = question.type === "A" ? parseIpv4 : parseIpv6;
    const data = result.addresses.map(parse).filter((octets) => octets !== null);
    const ttl = Math.max(ttlSecondsMin, result.ttlSeconds);
    this.#entries.set(key, { data, expiresSeconds: nowSeconds + ttl });
  }

  /** `undefined`: nobody has asked yet, or too long ago. */
  get(question: ExternalQuestion, nowSeconds: number): ExternalAddresses | "failed" | undefined {
    const entry = this.#entries.get(keyOf(question));
    if (entry === undefined || entry.expiresSeconds <= nowSeconds) return undefined;
    if (entry.data === null) return "failed";
    return { data: entry.data, ttlSeconds: Math.floor(entry.expiresSeconds - nowSeconds) };
  }
}
