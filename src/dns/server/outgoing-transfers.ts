/**
 * Transfers of zones to secondaries. The first transfer of a zone makes the copy that transfers are
 * made from; the copy follows the zone from then on.
 *
 * The external addresses of flattened names are renewed for secondaries: when the TTL of an address
 * ends, the resolver is asked again; when the addresses differ from those that secondaries have, the
 * zone takes a new serial, and secondaries transfer the change.
 */
import { BlockList, isIPv6 } from "node:net";
import type { AnswerContext } from "../answer/answer.ts";
import {
  ExternalAddressCache,
  lastAddresses,
  resolveIntoCache,
  type ExternalQuestion,
  type ExternalResolution,
} from "../answer/external-addresses.ts";
import type { Query, QuerySender, QuerySource } from "../answer/query.ts";
import type { TransferRequest } from "../answer/responder.ts";
import type { ServedZone, ServedZones } from "../answer/served-zones.ts";
import { hmac, signNow } from "../client/fetch-zone.ts";
import type { TransferConfig } from "../config/dns-table.ts";
import type { ObservedQueries } from "../fault/observed-queries.ts";
import { formatIpv4, formatIpv6 } from "../record/ip-address.ts";
import { rewind, type LoggedChange } from "../replication/publication.ts";
import type { ZoneChange } from "../rules/zone.ts";
import { requestedSerial, transferOctets } from "../transfer/outgoing.ts";
import { externalQuestions, replayZone, TransferredZone } from "../transfer/transferred-zone.ts";
import { WireError } from "../wire/bytes.ts";
import { blankMessage, encodeMessage } from "../wire/message.ts";
import { isLaterSerial, rcodes } from "../wire/numbers.ts";
import { Exchanges, Notifier } from "./notifier.ts";

/** Addresses with a shorter TTL are renewed at this interval. */
const renewalSecondsMin = 2;
/** After a resolver has failed. */
const retrySeconds = 30;

interface OutgoingTransfersOptions extends ExternalResolution {
  readonly config: TransferConfig;
  readonly zones: ServedZones;
  readonly platformAddresses: readonly string[];
  readonly observed: ObservedQueries;
  /** Gives a zone a new serial, because the addresses of its flattened names have changed. */
  readonly advanceSerial: (zoneId: string) => Promise<void>;
  /** The changes of a zone after a serial, from its log; `null` when the log does not reach back. */
  readonly changesSince: (zoneId: string, serial: number) => Promise<LoggedChange[] | null>;
}

export class OutgoingTransfers {
  readonly #options: OutgoingTransfersOptions;
  readonly #allowedAddresses = new BlockList();
  readonly #allowedKeys = new Set<string>();
  readonly #copies = new Map<string, TransferredZone>();
  readonly #notifier: Notifier;
  readonly #renewals = new Map<string, NodeJS.Timeout>();

  constructor(options: OutgoingTransfersOptions) {
    this.#options = options;
    for (const entry of options.config.allow) this.#allow(entry);
    this.#notifier = new Notifier({
      zones: options.zones,
      secondaries: options.config.secondaries,
      exchanges: new Exchanges(),
      losesNotify: (zone, secondary) => options.observed.losesNotify(zone, secondary),
    });
  }

  /** Announces the zones to secondaries. To be called when the sockets are bound. */
  start(): void {
    this.#notifier.start();
  }

  /** To be called with each query for an SOA or a transfer. */
  asked(query: Query): void {
    this.#notifier.asked(query);
  }

  /** @param change the change of the zone; `null` when the zone was replaced or removed */
  onZoneChange(zoneId: string, change: ZoneChange | null): void {
    const zone = this.#options.zones.get(zoneId);
    if (zone === undefined) {
      this.#copies.delete(zoneId);
      return;
    }
    this.#copies.get(zoneId)?.follow(zone, change, this.#lastContext());
    this.#scheduleRenewal(zoneId);
    this.#notifier.changed(zoneId);
  }

  async *serve(request: TransferRequest, source: QuerySource): AsyncGenerator<Uint8Array, void> {
    const { query, zone, signature: signed } = request;
    if (!this.mayTransfer({ source, signature: signed })) {
      yield refusal(request, rcodes.REFUSED);
      return;
    }
    const nowSeconds = this.#options.nowSeconds();
    const signature = signed && { ...signed, hmac, nowSeconds };
    try {
      const copy = await this.#copyWith(zone, requestedSerial(query));
      yield* transferOctets(query, copy, signature);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      yield refusal(request, rcodes.FORMERR);
    }
  }

  stop(): void {
    this.#notifier.stop();
    for (const timer of this.#renewals.values()) clearTimeout(timer);
    this.#renewals.clear();
  }

  #allow(entry: string): void {
    if (entry.startsWith("key:")) {
      this.#allowedKeys.add(entry.slice("key:".length));
      return;
    }
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) this.#allowedAddresses.addAddress(address, family);
    else this.#allowedAddresses.addSubnet(address, Number(bits), family);
  }

  mayTransfer({ source, signature }: QuerySender): boolean {
    if (signature !== null && this.#allowedKeys.has(signature.key.name)) return true;
    const { address } = source;
    return address.length === 4
      ? this.#allowedAddresses.check(formatIpv4(address), "ipv4")
      : this.#allowedAddresses.check(formatIpv6(address), "ipv6");
  }

  /** The copy, if possible with the changes since a serial. */
  async #copyWith(zone: ServedZone, serial: number | null): Promise<TransferredZone> {
    const copy = await this.#copy(zone);
    const isKnown = serial === null || !isLaterSerial(copy.serial, serial);
    if (isKnown || copy.since(serial) !== null) return copy;
    const changes = await this.#options.changesSince(zone.id, serial).catch(() => null);
    // Meanwhile the zone may have changed: then the copy has followed it.
    const [current, latest] = [this.#options.zones.get(zone.id), this.#copies.get(zone.id)];
    if (changes === null || current === undefined || latest === undefined) return latest ?? copy;
    const until = changes.findIndex((change) => change.serial === current.serial) + 1;
    const { data, changes: forward } = rewind(current.data, serial, changes.slice(0, until));
    const { platformAddresses } = this.#options;
    const options = { ...this.#lastContext(), platformAddresses, current: latest };
    const replayed = until === 0 ? null : replayZone(data, forward, options);
    if (replayed !== null) this.#copies.set(zone.id, replayed);
    return replayed ?? latest;
  }

  async #copy(zone: ServedZone): Promise<TransferredZone> {
    const known = this.#copies.get(zone.id);
    if (known !== undefined) return known;
    const questions = externalQuestions(zone, this.#context());
    await Promise.all(questions.map((question) => resolveIntoCache(question, this.#options)));
    // Meanwhile the zone may have changed, or another transfer may have made the copy.
    const current = this.#options.zones.get(zone.id) ?? zone;
    const copy = this.#copies.get(zone.id) ?? new TransferredZone(current, this.#lastContext());
    this.#copies.set(zone.id, copy);
    this.#scheduleRenewal(zone.id);
    return copy;
  }

  /** To be called when the copy of a zone was made or has followed its zone. */
  #scheduleRenewal(zoneId: string): void {
    const { external, nowSeconds } = this.#options;
    clearTimeout(this.#renewals.get(zoneId));
    this.#renewals.delete(zoneId);
    const remaining = this.#copiedQuestions(zoneId).map((question) => {
      const found = external.get(question, nowSeconds());
      return found === "failed" ? retrySeconds : (found?.ttlSeconds ?? 0);
    });
    if (remaining.length === 0) return;
    const renew = (): void =>
      void this.#renew(zoneId).catch((error: unknown) => {
        console.error("Cannot renew the addresses of flattened names:", error);
        this.#scheduleRenewal(zoneId);
      });
    const timer = setTimeout(renew, Math.max(renewalSecondsMin, Math.min(...remaining)) * 1000);
    timer.unref();
    this.#renewals.set(zoneId, timer);
  }

  /** The questions whose answers the copy of a zone contains. */
  #copiedQuestions(zoneId: string): readonly ExternalQuestion[] {
    const zone = this.#options.zones.get(zoneId);
    if (zone === undefined || !this.#copies.has(zoneId)) return [];
    // With an empty cache every external address is missing.
    return externalQuestions(zone, { ...this.#context(), external: new ExternalAddressCache() });
  }

  async #renew(zoneId: string): Promise<void> {
    const { zones, external, nowSeconds, advanceSerial } = this.#options;
    const questions = this.#copiedQuestions(zoneId).filter(
      (question) => (external.get(question, nowSeconds()) ?? "expired") === "expired",
    );
    await Promise.all(questions.map((question) => resolveIntoCache(question, this.#options)));
    const [zone, copy] = [zones.get(zoneId), this.#copies.get(zoneId)];
    const hasFailed = questions.some((each) => external.get(each, nowSeconds()) === "failed");
    // A resolver that fails says nothing of the addresses.
    const isKnown = zone !== undefined && copy !== undefined && !hasFailed;
    if (isKnown && copy.isStale(zone, this.#lastContext())) {
      // The publication of the serial schedules the next renewal.
      await advanceSerial(zoneId);
    } else this.#scheduleRenewal(zoneId);
  }

  #lastContext(): AnswerContext {
    return { ...this.#context(), external: lastAddresses(this.#options.external) };
  }

  #context(): AnswerContext {
    const { zones, external, nowSeconds } = this.#options;
    return { zones, external, nowSeconds: nowSeconds() };
  }
}

function refusal({ query, signature }: TransferRequest, rcode: number): Uint8Array {
  const { id, opcode, questions } = query;
  const response = { ...blankMessage, id, opcode, questions, response: true, rcode };
  const bytes = encodeMessage(response);
  return signature === null ? bytes : signNow(bytes, signature.key, signature.mac).bytes;
}
