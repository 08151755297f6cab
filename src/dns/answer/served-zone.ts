/**
 * A zone in memory as it is served: its nodes by name, empty non-terminals included. A change is
 * applied in place, one serial at a time. No step here is asynchronous, so a query never sees half
 * of a change.
 */
import { keySets, type ZoneSigning } from "../dnssec/zone-signing.ts";
import { isAtOrBelow, parentKey, textKey, type NameKey } from "../wire/name-key.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { recordType } from "../record/registry.ts";
import type { PlatformAddresses } from "./proxied-answer.ts";
import { ServedNode, type NodeView } from "./served-node.ts";
import type { ServedRecord, ZoneChange, ZoneData, ZoneHead } from "./zone-data.ts";

export class ServedZone {
  readonly id: string;
  readonly name: string;
  readonly apexKey: NameKey;
  readonly apexOwner: Uint8Array;
  readonly #platform: PlatformAddresses;
  readonly #nodes = new Map<NameKey, ServedNode>();
  readonly #apex: ServedNode;
  #head: ZoneHead;
  #serial: number;
  /** The number of NS records below the apex. Most zones have none and need no search for cuts. */
  #delegations = 0;
  #soa!: RecordSet;
  #negativeSoa!: RecordSet;

  constructor(data: ZoneData, platform: PlatformAddresses) {
    this.id = data.id;
    this.name = data.name;
    this.apexKey = textKey(data.name);
    this.apexOwner = encodeName(data.name);
    this.#platform = platform;
    const { nameServers, settings, http2, http3, paused, signing } = data;
    this.#head = { nameServers, settings, http2, http3, paused, signing };
    this.#serial = data.serial;
    this.#apex = new ServedNode(this.apexKey);
    this.#nodes.set(this.apexKey, this.#apex);
    this.#renewApex();
    for (const record of data.records) this.#add(record);
  }

  get serial(): number {
    return this.#serial;
  }

  /** The zone as plain data. */
  get data(): ZoneData {
    const records = [...this.#nodes.values()].flatMap((node) => node.records);
    return { id: this.id, name: this.name, serial: this.#serial, ...this.#head, records };
  }

  get soa(): RecordSet {
    return this.#soa;
  }

  /** For negative answers: its TTL is how long they may be cached (RFC 2308 section 3). */
  get negativeSoa(): RecordSet {
    return this.#negativeSoa;
  }

  /** `null` when the zone is not signed. */
  get signing(): ZoneSigning | null {
    return this.#head.signing ?? null;
  }

  /** The sets that DNSSEC adds to the apex. */
  get keySets(): readonly RecordSet[] {
    return this.signing === null ? [] : keySets(this.apexOwner, this.signing);
  }

  get hasDelegations(): boolean {
    return this.#delegations > 0;
  }

  /** Finds a name that has records or names below it. */
  find(key: NameKey): ServedNode | undefined {
    return this.#nodes.get(key);
  }

  nodes(): IterableIterator<ServedNode> {
    return this.#nodes.values();
  }

  view(node: ServedNode): NodeView {
    if (node.view !== null) return node.view;
    const apexSets = node === this.#apex ? this.#apexSets() : null;
    return node.makeView(this.#head, this.#platform, apexSets);
  }

  /** To be called by ServedZones only, which invalidates prepared answers. */
  apply(change: ZoneChange): void {
    for (const { id, name } of change.removed) this.#remove(id, name);
    for (const record of change.added) this.#add(record);
    this.#serial = change.serial;
    if (change.head !== undefined) {
      this.#head = change.head;
      for (const node of this.#nodes.values()) node.dropView();
    }
    this.#renewApex();
  }

  #renewApex(): void {
    const { soa } = this.#head.settings;
    const fields = { ...soa, serial: this.#serial, minimum: soa.min_ttl };
    const data = [recordType("SOA").write(fields)];
    this.#soa = { owner: this.apexOwner, type: typeCodes.SOA, ttlSeconds: soa.ttl, data };
    this.#negativeSoa = { ...this.#soa, ttlSeconds: Math.min(soa.ttl, soa.min_ttl) };
    this.#apex.dropView();
  }

  /**
   * NS records that were created by the API join this NS set. Deviation: the deployed service serves
   * them only when `multi_provider` is on.
   */
  #apexSets(): RecordSet[] {
    const { nameServers, settings } = this.#head;
    const data = nameServers.map((server) => encodeName(server));
    const ns = { owner: this.apexOwner, type: typeCodes.NS, ttlSeconds: settings.ns_ttl, data };
    return [this.#soa, ...(data.length === 0 ? [] : [ns]), ...this.keySets];
  }

  #isCut(record: ServedRecord, key: NameKey): boolean {
    return record.type === "NS" && key !== this.apexKey;
  }

  #add(record: ServedRecord): void {
    const key = textKey(record.name);
    if (!isAtOrBelow(key, this.apexKey)) return;
    this.#findOrCreate(key).add(record);
    if (this.#isCut(record, key)) this.#delegations += 1;
  }

  #remove(id: string, name: string): void {
    const key = textKey(name);
    const node = this.#nodes.get(key);
    const removed = node?.remove(id);
    if (node === undefined || removed === undefined) return;
    if (this.#isCut(removed, key)) this.#delegations -= 1;
    this.#removeIfUnused(node);
  }

  #findOrCreate(key: NameKey): ServedNode {
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = new ServedNode(key);
    this.#nodes.set(key, node);
    this.#findOrCreate(parentKey(key)).children += 1;
    return node;
  }

  #removeIfUnused(node: ServedNode): void {
    if (node === this.#apex || node.records.length > 0 || node.children > 0) return;
    this.#nodes.delete(node.key);
    const parent = this.#nodes.get(parentKey(node.key))!;
    parent.children -= 1;
    this.#removeIfUnused(parent);
  }
}
