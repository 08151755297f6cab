/**
 * Transfers to secondaries, in the thread that has the TCP connections. The copy of a zone that
 * they are made from is begun when somebody first asks for it, and follows the zone from then on.
 */
import { BlockList, isIPv6 } from "node:net";
import { blankMessage, encodeMessage } from "../wire/message.ts";
import { rcodes } from "../wire/numbers.ts";
import { signMessage } from "../wire/tsig-mac.ts";
import { WireError } from "../wire/bytes.ts";
import { formatIpv4, formatIpv6 } from "../record/field/ip-address.ts";
import type { AnswerContext } from "../answer/answer.ts";
import type { ExternalAddressCache } from "../answer/external-addresses.ts";
import type { Asker, TransferWanted } from "../answer/responder.ts";
import type { ResolveExternal } from "../answer/respond-fully.ts";
import type { ServedZone, ZoneChange } from "../answer/served-zone.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import { transferOctets } from "../transfer/outgoing.ts";
import { outsideQuestions, TransferredZone } from "../transfer/transferred-zone.ts";
import { hmac } from "./hmac.ts";
import { Notifier } from "./notifier.ts";
import type { TransferConfig } from "../../config/dns-transfers.ts";

export interface TransfersOptions {
  readonly config: TransferConfig;
  readonly zones: ServedZones;
  readonly outside: ExternalAddressCache;
  readonly resolve: ResolveExternal;
}

export class Transfers {
  readonly #options: TransfersOptions;
  readonly #allowed = new BlockList();
  readonly #allowedKeys = new Set<string>();
  readonly #copies = new Map<string, TransferredZone>();
  readonly #notifier: Notifier;

  constructor(options: TransfersOptions) {
    this.#options = options;
    for (const entry of options.config.allow) this.#allow(entry);
    this.#notifier = new Notifier({
      secondaries: options.config.secondaries,
      zone: (zoneId) => options.zones.get(zoneId),
    });
  }

  /** @param change what the zone has just taken; `null` when it came whole */
  changed(zoneId: string, change: ZoneChange | null): void {
    const zone = this.#options.zones.get(zoneId);
    if (zone === undefined) {
      this.#copies.delete(zoneId);
      return;
    }
    this.#copies.get(zoneId)?.follow(zone, change, this.#context());
    this.#notifier.changed(zoneId);
  }

  /** The messages of a transfer, or the one that refuses it. */
  async *serve(wanted: TransferWanted, asker: Asker): AsyncGenerator<Uint8Array, void> {
    const { query, zone, signer } = wanted;
    if (!this.#mayTransfer(wanted, asker)) {
      yield refusal(wanted, rcodes.REFUSED);
      return;
    }
    const copy = await this.#copy(zone);
    const signature = signer && { ...signer, hmac, nowSeconds: nowSeconds() };
    try {
      yield* transferOctets(query, copy, signature);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      yield refusal(wanted, rcodes.FORMERR);
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
    if (bits === undefined) this.#allowed.addAddress(address, family);
    else this.#allowed.addSubnet(address, Number(bits), family);
  }

  #mayTransfer({ signer }: TransferWanted, { address }: Asker): boolean {
    if (signer !== null && this.#allowedKeys.has(signer.key.name)) return true;
    return address.length === 4
      ? this.#allowed.check(formatIpv4(address), "ipv4")
      : this.#allowed.check(formatIpv6(address), "ipv6");
  }

  async #copy(zone: ServedZone): Promise<TransferredZone> {
    const known = this.#copies.get(zone.id);
    if (known !== undefined) return known;
    const { outside, resolve, zones } = this.#options;
    const questions = outsideQuestions(zone, this.#context());
    await Promise.all(
      questions.map(async (question) => {
        outside.put(question, await resolve(question), nowSeconds());
      }),
    );
    // The zone may have changed meanwhile, or somebody else may have asked for it.
    const copy =
      this.#copies.get(zone.id) ?? new TransferredZone(zones.get(zone.id) ?? zone, this.#context());
    this.#copies.set(zone.id, copy);
    return copy;
  }

  #context(): AnswerContext {
    const { zones, outside } = this.#options;
    return { zones, outside, nowSeconds: nowSeconds() };
  }
}

function refusal({ query, signer }: TransferWanted, rcode: number): Uint8Array {
  const { id, opcode, questions } = query;
  const response = { ...blankMessage, id, opcode, questions, response: true, rcode };
  const bytes = encodeMessage(response, { bytesMax: 512 });
  if (signer === null) return bytes;
  const { key, mac: priorMac } = signer;
  return signMessage(bytes, { key, hmac, priorMac, nowSeconds: nowSeconds() }).bytes;
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
