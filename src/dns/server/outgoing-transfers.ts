/**
 * Transfers of zones to secondaries, in the thread that has the TCP connections. The first transfer
 * of a zone makes the copy that transfers are made from; the copy follows the zone from then on.
 */
import { BlockList, isIPv6 } from "node:net";
import { blankMessage, encodeMessage } from "../wire/message.ts";
import { rcodes, isLaterSerial } from "../wire/numbers.ts";
import { WireError } from "../wire/bytes.ts";
import { formatIpv4, formatIpv6 } from "../record/ip-address.ts";
import type { AnswerContext } from "../answer/answer.ts";
import {
  LastAddresses,
  resolveIntoCache,
  type ExternalResolution,
} from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import type { TransferRequest } from "../answer/responder.ts";
import type { ServedZone, ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange } from "../answer/zone-data.ts";
import { rewind, type LoggedChange } from "../replication/logged-change.ts";
import { requestedSerial, transferOctets } from "../transfer/outgoing.ts";
import { replayZone } from "../transfer/replayed-zone.ts";
import { externalQuestions, TransferredZone } from "../transfer/transferred-zone.ts";
import type { TransferConfig } from "../config/dns-table.ts";
import { hmac, signNow } from "../client/message-signing.ts";
import type { ObservedQueries } from "../fault/observed-queries.ts";
import { AddressRenewal } from "./address-renewal.ts";
import { Notifier } from "./notifier.ts";

export interface OutgoingTransfersOptions extends ExternalResolution {
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
  readonly #renewal: AddressRenewal;

  constructor(options: OutgoingTransfersOptions) {
    this.#options = options;
    for (const entry of options.config.allow) this.#allow(entry);
    const { config, zones, observed } = options;
    this.#notifier = new Notifier(config.secondaries, zones, observed);
    const copyOf = (zoneId: string): TransferredZone | undefined => this.#copies.get(zoneId);
    this.#renewal = new AddressRenewal({ ...options, copyOf });
  }

  /** @param change the change of the zone; `null` when the zone was replaced or removed */
  onZoneChange(zoneId: string, change: ZoneChange | null): void {
    const zone = this.#options.zones.get(zoneId);
    if (zone === undefined) {
      this.#copies.delete(zoneId);
      return;
    }
    this.#copies.get(zoneId)?.follow(zone, change, this.#lastContext());
    this.#renewal.schedule(zoneId);
    this.#notifier.changed(zoneId);
  }

  /** The messages of a transfer, or one message that refuses it. */
  async *serve(request: TransferRequest, source: QuerySource): AsyncGenerator<Uint8Array, void> {
    const { query, zone } = request;
    if (!this.#isAllowed(request, source)) {
      yield refusal(request, rcodes.REFUSED);
      return;
    }
    const nowSeconds = this.#options.nowSeconds();
    const signature = request.signature && { ...request.signature, hmac, nowSeconds };
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
    this.#renewal.stop();
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

  #isAllowed({ signature }: TransferRequest, { address }: QuerySource): boolean {
    if (signature !== null && this.#allowedKeys.has(signature.key.name)) return true;
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
    this.#renewal.schedule(zone.id);
    return copy;
  }

  /** For the records of a copy. */
  #lastContext(): AnswerContext {
    return { ...this.#context(), external: new LastAddresses(this.#options.external) };
  }

  #context(): AnswerContext {
    const { zones, external, nowSeconds } = this.#options;
    return { zones, external, nowSeconds: nowSeconds() };
  }
}

function refusal({ query, signature }: TransferRequest, rcode: number): Uint8Array {
  const { id, opcode, questions } = query;
  const response = { ...blankMessage, id, opcode, questions, response: true, rcode };
  const bytes = encodeMessage(response, { bytesMax: 512 });
  return signature === null ? bytes : signNow(bytes, signature.key, signature.mac).bytes;
}
