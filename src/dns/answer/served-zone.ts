/**
 * A zone in memory, as it is served: its names by key, with every name that only exists because of
 * others below it. It is changed in place, one serial at a time; between two changes it is a value,
 * since nothing here waits.
 */
import { isAtOrBelow, parentKey, textKey, type NameKey } from "../wire/name-key.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { Platform } from "./proxied-answer.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { recordType } from "../record/registry.ts";
import { ServedNode, type NodeView } from "./served-node.ts";
import type { DnsSettings } from "../rules/dns-settings.ts";

/** As much of a record as serving it needs. */
export type ServedRecord = Pick<
  ZoneRecord,
  "id" | "name" | "type" | "content" | "priority" | "ttl" | "proxied" | "settings"
>;

/** What of a zone is no record, and may change under it. */
export interface ZoneHead {
  /** The apex NS records that the zone has without a record for them. */
  readonly nameServers: readonly string[];
  readonly settings: Pick<DnsSettings, "flatten_all_cnames" | "ns_ttl" | "soa" | "zone_mode">;
  readonly http2: boolean;
  readonly http3: boolean;
  /** A paused zone hides nothing: proxied names are answered with what they hold. */
  readonly paused: boolean;
}

/** A zone as plain data: what the object of a zone hands over. */
export interface ZoneData extends ZoneHead {
  readonly id: string;
  readonly name: string;
  readonly serial: number;
  readonly records: readonly ServedRecord[];
}

/** One serial's worth. Records are removed by id, before others are added. */
export interface ZoneChange {
  readonly serial: number;
  readonly removed: readonly Pick<ServedRecord, "id" | "name">[];
  readonly added: readonly ServedRecord[];
  /** When settings changed as well. */
  readonly head?: ZoneHead;
}

export class ServedZone {
  readonly id: string;
  readonly name: string;
  readonly apexKey: NameKey;
  readonly #apexOwner: Uint8Array;
  readonly #platform: Platform;
  readonly #nodes = new Map<NameKey, ServedNode>();
  readonly #apex: ServedNode;
  #head: ZoneHead;
  #serial: number;
  /** NS records below the apex; most zones have none, and then no cut is looked for. */
  #delegations = 0;
  #soa: RecordSet;
  #negativeSoa: RecordSet;

  private constructor(data: ZoneData, platform: Platform) {
    this.id = data.id;
    this.name = data.name;
    this.apexKey = textKey(data.name);
    this.#apexOwner = encodeName(data.name);
    this.#platform = platform;
    const { nameServers, settings, http2, http3, paused } = data;
    this.#head = { nameServers, settings, http2, http3, paused };
    this.#serial = data.serial;
    this.#apex = new ServedNode(this.apexKey);
    this.#nodes.set(this.apexKey, this.#apex);
    this.#soa = this.#negativeSoa = this.#makeSoa();
    this.#renewHead();
    for (const record of data.records) this.#add(record);
  }

  static build(data: ZoneData, platform: Platform): ServedZone {
    return new ServedZone(data, platform);
  }

  get serial(): number {
    return this.#serial;
  }

  get head(): ZoneHead {
    return this.#head;
  }

  get soa(): RecordSet {
    return this.#soa;
  }

  /** For negative answers: its TTL says for how long they hold (RFC 2308 section 3). */
  get negativeSoa(): RecordSet {
    return this.#negativeSoa;
  }

  get hasDelegations(): boolean {
    return this.#delegations > 0;
  }

  /** A name with records, or with names below it. */
  find(key: NameKey): ServedNode | undefined {
    return this.#nodes.get(key);
  }

  nodes(): IterableIterator<ServedNode> {
    return this.#nodes.values();
  }

  view(node: ServedNode): NodeView {
    if (node.view !== null) return node.view;
    const isApex = node === this.#apex;
    const own = isApex ? this.#ownSets() : [];
    return node.makeView({ head: this.#head, platform: this.#platform, isApex, own });
  }

  /** Through ServedZones, which knows what was prepared from the zone as it was. */
  apply(change: ZoneChange): void {
    for (const { id, name } of change.removed) this.#remove(id, name);
    for (const record of change.added) this.#add(record);
    this.#serial = change.serial;
    if (change.head !== undefined) {
      this.#head = change.head;
      for (const node of this.#nodes.values()) node.forget();
    }
    this.#renewHead();
  }

  #makeSoa(): RecordSet {
    const { soa } = this.#head.settings;
    const data = recordType("SOA").write({ ...soa, serial: this.#serial, minimum: soa.min_ttl });
    return { owner: this.#apexOwner, type: typeCodes.SOA, ttlSeconds: soa.ttl, data: [data] };
  }

  #renewHead(): void {
    const { soa } = this.#head.settings;
    this.#soa = this.#makeSoa();
    this.#negativeSoa = { ...this.#soa, ttlSeconds: Math.min(soa.ttl, soa.min_ttl) };
    this.#apex.forget();
  }

  /**
   * Beside NS records that the API was told of. Deviation: the deployed service leaves those out
   * unless `multi_provider` is on; here they were created to be seen.
   */
  #ownSets(): RecordSet[] {
    const { nameServers, settings } = this.#head;
    const data = nameServers.map((server) => encodeName(server));
    const ns = { owner: this.#apexOwner, type: typeCodes.NS, ttlSeconds: settings.ns_ttl, data };
    return data.length === 0 ? [this.#soa] : [this.#soa, ns];
  }

  #isCut(record: ServedRecord, key: NameKey): boolean {
    return record.type === "NS" && key !== this.apexKey;
  }

  #add(record: ServedRecord): void {
    const key = textKey(record.name);
    if (!isAtOrBelow(key, this.apexKey)) return;
    this.#grow(key).add(record);
    if (this.#isCut(record, key)) this.#delegations += 1;
  }

  #remove(id: string, name: string): void {
    const key = textKey(name);
    const node = this.#nodes.get(key);
    const removed = node?.remove(id);
    if (node === undefined || removed === undefined) return;
    if (this.#isCut(removed, key)) this.#delegations -= 1;
    this.#prune(node);
  }

  #grow(key: NameKey): ServedNode {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = new ServedNode(key);
    this.#nodes.set(key, node);
    this.#grow(parentKey(key)).children += 1;
    return node;
  }

  #prune(node: ServedNode): void {
    if (node === this.#apex || node.records.length > 0 || node.children > 0) return;
    this.#nodes.delete(node.key);
    const parent = this.#nodes.get(parentKey(node.key))!;
    parent.children -= 1;
    this.#prune(parent);
  }
}
