/**
 * Renews the external addresses of flattened names for secondaries. When the TTL of an address ends,
 * the resolver is asked again; when the addresses differ from those that secondaries have, the zone
 * takes a new serial, and secondaries transfer the change.
 */
import type { AnswerContext } from "../answer/answer.ts";
import {
  ExternalAddressCache,
  LastAddresses,
  resolveIntoCache,
  type ExternalResolution,
} from "../answer/external-addresses.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import { externalQuestions, type TransferredZone } from "../transfer/transferred-zone.ts";

/** Addresses with a shorter TTL are renewed at this interval. */
const intervalSecondsMin = 2;
/** After a resolver has failed. */
const retrySeconds = 30;

interface AddressRenewalOptions extends ExternalResolution {
  readonly zones: ServedZones;
  readonly copyOf: (zoneId: string) => TransferredZone | undefined;
  /** Gives the zone a new serial. */
  readonly advanceSerial: (zoneId: string) => Promise<void>;
}

export class AddressRenewal {
  readonly #options: AddressRenewalOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: AddressRenewalOptions) {
    this.#options = options;
  }

  /** To be called when the copy of a zone was made or has followed its zone. */
  schedule(zoneId: string): void {
    clearTimeout(this.#timers.get(zoneId));
    this.#timers.delete(zoneId);
    const seconds = this.#remainingSeconds(zoneId);
    if (seconds === null) return;
    const renew = (): void =>
      void this.#renew(zoneId).catch((error: unknown) => {
        console.error("Cannot renew the addresses of flattened names:", error);
        this.schedule(zoneId);
      });
    const timer = setTimeout(renew, Math.max(seconds, intervalSecondsMin) * 1000);
    timer.unref();
    this.#timers.set(zoneId, timer);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** The questions whose answers the copy of a zone contains. */
  #questions(zoneId: string) {
    const { zones, copyOf, nowSeconds } = this.#options;
    const zone = zones.get(zoneId);
    if (zone === undefined || copyOf(zoneId) === undefined) return [];
    // With an empty cache every external address is missing.
    const context = { zones, external: new ExternalAddressCache(), nowSeconds: nowSeconds() };
    return externalQuestions(zone, context);
  }

  /** `null` for a zone without external addresses. */
  #remainingSeconds(zoneId: string): number | null {
    const { external, nowSeconds } = this.#options;
    const remaining = this.#questions(zoneId).map((question) => {
      const found = external.get(question, nowSeconds());
      return found === "failed" ? retrySeconds : (found?.ttlSeconds ?? 0);
    });
    return remaining.length === 0 ? null : Math.min(...remaining);
  }

  async #renew(zoneId: string): Promise<void> {
    const { zones, external, nowSeconds, copyOf, advanceSerial } = this.#options;
    const questions = this.#questions(zoneId).filter(
      (question) => (external.get(question, nowSeconds()) ?? "expired") === "expired",
    );
    await Promise.all(questions.map((question) => resolveIntoCache(question, this.#options)));
    const [zone, copy] = [zones.get(zoneId), copyOf(zoneId)];
    const last = new LastAddresses(external);
    const context: AnswerContext = { zones, external: last, nowSeconds: nowSeconds() };
    const hasFailed = questions.some((each) => external.get(each, nowSeconds()) === "failed");
    // A resolver that fails says nothing of the addresses.
    if (zone !== undefined && copy !== undefined && !hasFailed && copy.isStale(zone, context)) {
      // The publication of the serial schedules the next renewal.
      await advanceSerial(zoneId);
    } else this.schedule(zoneId);
  }
}
