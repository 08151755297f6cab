/**
 * Resolves external names for flattened CNAMEs, with the configured resolvers or the system's.
 * Concurrent questions for the same name and type share one query.
 */
import { Resolver } from "node:dns/promises";
import type { ExternalQuestion, ExternalResult } from "../answer/external-addresses.ts";

/** DNS clients give up after five seconds; both tries must end before. */
const timeoutMilliseconds = 2000;
const triesMax = 2;
/** Node does not tell the TTL of a negative answer. */
const absentSeconds = 30;
/** The codes of c-ares for a server's answer without addresses. */
const absentCodes = new Set(["ENODATA", "ENOTFOUND"]);

export class ExternalResolver {
  readonly #resolver = new Resolver({ timeout: timeoutMilliseconds, tries: triesMax });
  readonly #pending = new Map<string, Promise<ExternalResult>>();

  /** @param servers `address` or `address:port`; the system's resolvers when empty */
  constructor(servers: readonly string[]) {
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  resolve = (question: ExternalQuestion): Promise<ExternalResult> => {
    const key = `${question.type} ${question.name}`;
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    const result = this.#query(question).finally(() => this.#pending.delete(key));
    this.#pending.set(key, result);
    return result;
  };

  stop(): void {
    this.#resolver.cancel();
  }

  async #query({ name, type }: ExternalQuestion): Promise<ExternalResult> {
    try {
      const found =
        type === "A"
          ? await this.#resolver.resolve4(name, { ttl: true })
          : await this.#resolver.resolve6(name, { ttl: true });
      return {
        addresses: found.map(({ address }) => address),
        ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
      };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return absentCodes.has(code) ? { addresses: [], ttlSeconds: absentSeconds } : "failed";
    }
  }
}
