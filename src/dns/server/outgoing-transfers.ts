/**
 * Transfers of zones to secondaries, in the thread that has the TCP connections. The first transfer
 * of a zone makes the copy that transfers are made from; the copy follows the zone from then on.
 */
import { BlockList, isIPv6 } from "node:net";
import { blankMessage, encodeMessage } from "../wire/message.ts";
import { rcodes } from "../wire/numbers.ts";
import { WireError } from "../wire/bytes.ts";
import { formatIpv4, formatIpv6 } from "../record/field/ip-address.ts";
import type { AnswerContext } from "../answer/answer.ts";
import { resolveIntoCache, type ExternalResolution } from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import type { TransferRequest } from "../answer/responder.ts";
import type { ServedZone } from "../answer/served-zone.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange } from "../answer/zone-data.ts";
import { transferOctets } from "../transfer/outgoing.ts";
import { externalQuestions, TransferredZone } from "../transfer/transferred-zone.ts";
import type { TransferConfig } from "../../config/dns-transfers.ts";
import { hmac, signNow } from "../client/message-signing.ts";
import { Notifier } from "./notifier.ts";

export interface OutgoingTransfersOptions extends ExternalResolution {
  readonly config: TransferConfig;
  readonly zones: ServedZones;
}

export class OutgoingTransfers {
  readonly #options: OutgoingTransfersOptions;
  readonly #allowedAddresses = new BlockList();
  readonly #allowedKeys = new Set<string>();
  readonly #copies = new Map<string, TransferredZone>();
  readonly #notifier: Notifier;

  constructor(options: OutgoingTransfersOptions) {
    this.#options = options;
    for (const entry of options.config.allow) this.#allow(entry);
    this.#notifier = new Notifier(options.config.secondaries, options.zones);
  }

  /** @param change the change of the zone; `null` when the zone was replaced or removed */
  onZoneChange(zoneId: string, change: ZoneChange | null): void {
    const zone = this.#options.zones.get(zoneId);
    if (zone === undefined) {
      this.#copies.delete(zoneId);
      return;
    }
    this.#copies.get(zoneId)?.follow(zone, change, this.#context());
    this.#notifier.changed(zoneId);
  }

  /** The messages of a transfer, or one message that refuses it. */
  async *serve(request: TransferRequest, source: QuerySource): AsyncGenerator<Uint8Array, void> {
    const { query, zone } = request;
    if (!this.#isAllowed(request, source)) {
      yield refusal(request, rcodes.REFUSED);
      return;
    }
    const copy = await this.#copy(zone);
    const nowSeconds = this.#options.nowSeconds();
    const signature = request.signature && { ...request.signature, hmac, nowSeconds };
    try {
      yield* transferOctets(query, copy, signature);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      yield refusal(request, rcodes.FORMERR);
    }
  }

  stop(): void {
    this.#notifier.stop();
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

  async #copy(zone: ServedZone): Promise<TransferredZone> {
    const known = this.#copies.get(zone.id);
    if (known !== undefined) return known;
    const questions = externalQuestions(zone, this.#context());
    await Promise.all(questions.map((question) => resolveIntoCache(question, this.#options)));
    // Meanwhile the zone may have changed, or another transfer may have made the copy.
    const current = this.#options.zones.get(zone.id) ?? zone;
    const copy = this.#copies.get(zone.id) ?? new TransferredZone(current, this.#context());
    this.#copies.set(zone.id, copy);
    return copy;
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
