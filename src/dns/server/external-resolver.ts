/**
 * Addresses of names that no zone here has, for CNAMEs that are flattened: asked of the configured
 * resolver, or of the system's. Questions that are being asked already are not asked twice.
 */
import { Resolver } from "node:dns/promises";
import type { ExternalQuestion, ExternalResult } from "../answer/external-addresses.ts";

/** A client gives up after five seconds; the answer has to be there before. */
const TIMEOUT_MILLISECONDS = 2000;
const TRIES = 2;
/** Node does not say for how long a name has no addresses. */
const ABSENT_SECONDS = 30;
/** An answer that may not be kept at all is still good for the query that asked. */
const TTL_SECONDS_MIN = 1;

/** c-ares says so when the server has answered that there is nothing. */
const ABSENT = new Set(["ENODATA", "ENOTFOUND"]);

export class ExternalResolver {
  readonly #resolver = new Resolver({ timeout: TIMEOUT_MILLISECONDS, tries: TRIES });
  readonly #asking = new Map<string, Promise<ExternalResult>>();

  /** Servers as `address` or `address:port`; the system's when there are none. */
  constructor(servers: readonly string[]) {
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  resolve = (question: ExternalQuestion): Promise<ExternalResult> => {
    const key = `${question.type} ${question.name}`;
    const asking = this.#asking.get(key);
    if (asking !== undefined) return asking;
    const asked = this.#ask(question).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  };

  stop(): void {
    this.#resolver.cancel();
  }

  async #ask({ name, type }: ExternalQuestion): Promise<ExternalResult> {
    try {
      const found =
        type === "A"
          ? await this.#resolver.resolve4(name, { ttl: true })
          : await this.#resolver.resolve6(name, { ttl: true });
      const ttl = Math.min(...found.map((record) => record.ttl));
      return {
        addresses: found.map(({ address }) => address),
        ttlSeconds: Math.max(ttl, TTL_SECONDS_MIN),
      };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return ABSENT.has(code) ? { addresses: [], ttlSeconds: ABSENT_SECONDS } : "failed";
    }
  }
}
