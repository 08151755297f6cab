/**
 * Addresses of names that no zone here has, for CNAMEs that are flattened: asked of the configured
 * resolver, or of the system's. Questions that are being asked already are not asked twice.
 */
import { Resolver } from "node:dns/promises";
import type { ExternalQuestion, ExternalResult } from "../answer/external-addresses.ts";

/** A client gives up after five seconds; the answer has to be there before. */
const timeoutMilliseconds = 2000;
const triesMax = 2;
/** Node does not say for how long a name has no addresses. */
const absentSeconds = 30;
/** An answer that may not be kept at all is still good for the query that asked. */
const ttlSecondsMin = 1;

/** c-ares says so when the server has answered that there is nothing. */
const absent = new Set(["ENODATA", "ENOTFOUND"]);

export class ExternalResolver {
  readonly #resolver = new Resolver({ timeout: timeoutMilliseconds, tries: triesMax });
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
        ttlSeconds: Math.max(ttl, ttlSecondsMin),
      };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return absent.has(code) ? { addresses: [], ttlSeconds: absentSeconds } : "failed";
    }
  }
}
