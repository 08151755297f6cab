/**
 * The zones of a server in memory, as they are served: each zone has its nodes by name, empty
 * non-terminals included. A change is applied in place, one serial at a time. No step here is
 * asynchronous, so a query never sees half of a change.
 */
import { keysAt } from "../dnssec/key-roll.ts";
import { keySets, type CurrentSigning } from "../dnssec/zone-signing.ts";
import { recordType } from "../record/types.ts";
import { catalogId } from "../rules/catalog.ts";
import type { ServedRecord, ZoneChange, ZoneData, ZoneHead } from "../rules/zone.ts";
import {
  encodeName,
  isAtOrBelow,
  nameKey,
  parentKey,
  rootKey,
  textKey,
  wildcardKey,
  type NameKey,
} from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { makeView, ServedNode, type NodeView } from "./served-node.ts";

/** The zones of a server. Every change passes here and increases the revision. */
export class ServedZones {
  readonly #options: { readonly platformAddresses: readonly string[] };
  readonly #byId = new Map<string, ServedZone>();
  /** Without the catalog, which answers only those who may transfer zones. */
  readonly #byApex = new Map<NameKey, ServedZone>();
  /** The length of the longest apex: longer suffixes of a name are no apex. */
  #apexLengthMax = rootKey.length;
  /** Increases with every change; answers prepared at an earlier revision are stale. */
  revision = 0;
  /** The number of signed zones. */
  #signed = 0;
  /** The time for which the keys of all zones are in use; empty when a zone with a roll has changed. */
  #fromSeconds = -Infinity;
  #untilSeconds = Infinity;
  /** Zones that a fork has too. They are copied before they change. */
  readonly #shared = new WeakSet<ServedZone>();

  constructor(options: { readonly platformAddresses: readonly string[] }) {
    this.#options = options;
  }

  /** Whether any zone is signed: otherwise DO changes no answer. */
  get hasSigned(): boolean {
    return this.#signed > 0;
  }

  get ids(): string[] {
    return [...this.#byId.keys()];
  }

  get(zoneId: string): ServedZone | undefined {
    return this.#byId.get(zoneId);
  }

  /** To be called before a query is answered: the keys of a zone whose keys roll depend on the time. */
  advance(nowSeconds: number): void {
    if (nowSeconds >= this.#fromSeconds && nowSeconds < this.#untilSeconds) return;
    this.#fromSeconds = -Infinity;
    this.#untilSeconds = Infinity;
    for (const zone of this.#byId.values()) {
      if (zone.signing === null) continue;
      zone.useKeysOf(nowSeconds);
      this.#fromSeconds = Math.max(this.#fromSeconds, zone.signing.fromSeconds);
      this.#untilSeconds = Math.min(this.#untilSeconds, zone.signing.untilSeconds);
    }
    this.revision += 1;
  }

  #expectRollOf(zone: ServedZone | undefined): void {
    if (zone?.hasRoll === true) this.#untilSeconds = -Infinity;
  }

  /** Adds a zone, or replaces the zone with the same id. */
  put(data: ZoneData): void {
    this.remove(data.id);
    this.#add(new ServedZone(data, this.#options.platformAddresses));
  }

  /** The zones as they are now. Later changes here do not reach the fork, and vice versa. */
  fork(): ServedZones {
    const fork = new ServedZones(this.#options);
    for (const zone of this.#byId.values()) {
      this.#shared.add(zone);
      fork.#shared.add(zone);
      fork.#add(zone);
    }
    return fork;
  }

  #add(zone: ServedZone): void {
    this.#byId.set(zone.id, zone);
    if (zone.id !== catalogId) {
      this.#byApex.set(zone.apexKey, zone);
      this.#apexLengthMax = Math.max(this.#apexLengthMax, zone.apexKey.length);
    }
    this.#signed += signedCount(zone);
    this.#expectRollOf(zone);
    this.revision += 1;
  }

  /** Returns false when the zone is unknown; the caller then puts the whole zone. */
  apply(zoneId: string, change: ZoneChange): boolean {
    const shared = this.#byId.get(zoneId);
    if (shared !== undefined && this.#shared.has(shared)) this.put(shared.data);
    const zone = this.#byId.get(zoneId);
    this.#signed -= signedCount(zone);
    zone?.apply(change);
    this.#signed += signedCount(zone);
    this.#expectRollOf(zone);
    this.revision += 1;
    return zone !== undefined;
  }

  remove(zoneId: string): void {
    const zone = this.#byId.get(zoneId);
    if (zone === undefined) return;
    this.#byId.delete(zoneId);
    // Another zone may have been created with the same name meanwhile.
    if (this.#byApex.get(zone.apexKey) === zone) this.#byApex.delete(zone.apexKey);
    this.#signed -= signedCount(zone);
    this.revision += 1;
  }

  /** The zone with exactly this apex, which can be the catalog. */
  at(apex: NameKey): ServedZone | undefined {
    const catalog = this.#byId.get(catalogId);
    return catalog?.apexKey === apex ? catalog : this.#byApex.get(apex);
  }

  /** The catalog, if a name belongs to it and not to a zone below it. */
  catalogFor(name: Uint8Array): ServedZone | undefined {
    const catalog = this.#byId.get(catalogId);
    if (catalog === undefined) return undefined;
    const key = nameKey(name);
    if (!isAtOrBelow(key, catalog.apexKey)) return undefined;
    const other = this.#enclosing(key);
    return other !== undefined && isAtOrBelow(other.apexKey, catalog.apexKey) ? undefined : catalog;
  }

  /**
   * Finds the zone that answers for a name: the zone with the longest apex that encloses it. At the
   * apex, DS is the parent zone's when that zone is here and has the cut (RFC 4035 section 3.1.4.1).
   */
  findFor(key: NameKey, type: number): ServedZone | undefined {
    const own = this.#enclosing(key);
    if (type !== typeCodes.DS || own?.apexKey !== key || key === rootKey) return own;
    const parent = this.#enclosing(parentKey(key));
    return parent?.find(key) === undefined ? own : parent;
  }

  #enclosing(key: NameKey): ServedZone | undefined {
    let at = 0;
    while (key.length - at > this.#apexLengthMax) at += key.charCodeAt(at) + 1;
    for (; at < key.length; at += key.charCodeAt(at) + 1) {
      const zone = this.#byApex.get(key.slice(at));
      if (zone !== undefined) return zone;
    }
    return undefined;
  }
}

function signedCount(zone: ServedZone | undefined): number {
  return zone === undefined || zone.signing === null ? 0 : 1;
}

type NameLocation =
  | { readonly kind: "cut" | "exact" | "wildcard"; readonly node: ServedNode }
  | { readonly kind: "none" };

export class ServedZone {
  readonly id: string;
  readonly name: string;
  readonly apexKey: NameKey;
  readonly apexOwner: Uint8Array;
  readonly #platformAddresses: readonly string[];
  readonly #nodes = new Map<NameKey, ServedNode>();
  readonly #apex: ServedNode;
  #head: ZoneHead;
  serial: number;
  /** `null` when the zone is not signed. Of a zone with a roll, as `useKeysOf()` has left it. */
  signing: CurrentSigning | null = null;
  /** The number of NS records below the apex. Most zones have none and need no search for cuts. */
  #delegations = 0;
  soa!: RecordSet;
  /** For negative answers: its TTL is how long they may be cached (RFC 2308 section 3). */
  negativeSoa!: RecordSet;

  constructor(data: ZoneData, platformAddresses: readonly string[]) {
    this.id = data.id;
    this.name = data.name;
    this.apexKey = textKey(data.name);
    this.apexOwner = encodeName(data.name);
    this.#platformAddresses = platformAddresses;
    const { nameServers, settings, http2, http3, paused, signing } = data;
    this.#head = { nameServers, settings, http2, http3, paused, signing };
    this.serial = data.serial;
    this.#apex = new ServedNode(this.apexKey);
    this.#nodes.set(this.apexKey, this.#apex);
    this.useKeysOf(-Infinity);
    this.#renewApex();
    for (const record of data.records) this.#add(record);
  }

  /** The zone as plain data. */
  get data(): ZoneData {
    const records = [...this.#nodes.values()].flatMap((node) => node.records);
    return { id: this.id, name: this.name, serial: this.serial, ...this.#head, records };
  }

  get hasRoll(): boolean {
    return this.#head.signing?.roll !== undefined;
  }

  /** To be called by ServedZones only, as `apply()`. */
  useKeysOf(nowSeconds: number): void {
    const { signing } = this.#head;
    this.signing =
      signing === undefined ? null : { ...keysAt(signing, nowSeconds), faults: signing.faults };
    this.#apex.view = null;
  }

  /** The sets that DNSSEC adds to the apex. */
  get keySets(): readonly RecordSet[] {
    return this.signing === null ? [] : keySets(this.apexOwner, this.signing);
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
    node.view = makeView(node, this.#head, this.#platformAddresses, apexSets);
    return node.view;
  }

  /**
   * The location of a name, which must be the apex or below it: RFC 1034 section 4.3.2 step 3, as
   * RFC 4592 section 3.3.1 amends it. A zone cut comes first, the highest before lower ones, because
   * names below a cut belong to another zone; then the name itself; then the wildcard of its closest
   * encloser, and no other. The search starts at the apex and ends at the first name that does
   * not exist, so its cost depends on the depth of the zone, not of the name.
   */
  locate(key: NameKey, type: number): NameLocation {
    if (this.#delegations === 0) {
      const node = this.find(key);
      if (node !== undefined) return { kind: "exact", node };
    }
    const starts: number[] = [];
    for (let at = 0; key.length - at > this.apexKey.length; at += key.charCodeAt(at) + 1) {
      starts.push(at);
    }
    let node = this.#apex;
    for (let label = starts.length - 1; label >= 0; label--) {
      const below = this.find(key.slice(starts[label]));
      if (below === undefined) {
        // All ancestors of an existing name exist, so this node is the closest encloser.
        const wildcard = this.find(wildcardKey(node.key));
        return wildcard === undefined ? { kind: "none" } : { kind: "wildcard", node: wildcard };
      }
      node = below;
      if (this.#delegations === 0 || !this.view(node).sets.has(typeCodes.NS)) continue;
      // RFC 4035 section 3.1.4.1: at the cut itself, DS alone belongs to the parent.
      if (type !== typeCodes.DS || label > 0) return { kind: "cut", node };
    }
    return { kind: "exact", node };
  }

  /** To be called by ServedZones only, which invalidates prepared answers. */
  apply(change: ZoneChange): void {
    for (const { id, name } of change.removed) this.#remove(id, name);
    for (const record of change.added) this.#add(record);
    this.serial = change.serial;
    if (change.head !== undefined) {
      this.#head = change.head;
      this.useKeysOf(-Infinity);
      for (const node of this.#nodes.values()) node.view = null;
    }
    this.#renewApex();
  }

  #renewApex(): void {
    const { soa } = this.#head.settings;
    const fields = { ...soa, serial: this.serial, minimum: soa.min_ttl };
    const data = [recordType("SOA").write(fields)];
    this.soa = { owner: this.apexOwner, type: typeCodes.SOA, ttlSeconds: soa.ttl, data };
    this.negativeSoa = { ...this.soa, ttlSeconds: Math.min(soa.ttl, soa.min_ttl) };
    this.#apex.view = null;
  }

  /**
   * NS records that were created by the API join this NS set. Deviation: the deployed service serves
   * them only when `multi_provider` is on.
   */
  #apexSets(): RecordSet[] {
    const { nameServers, settings } = this.#head;
    const data = nameServers.map((server) => encodeName(server));
    const ns = { owner: this.apexOwner, type: typeCodes.NS, ttlSeconds: settings.ns_ttl, data };
    return [this.soa, ...(data.length === 0 ? [] : [ns]), ...this.keySets];
  }

  #add(record: ServedRecord): void {
    const key = textKey(record.name);
    if (!isAtOrBelow(key, this.apexKey)) return;
    this.#findOrCreate(key).add(record);
    if (record.type === "NS" && key !== this.apexKey) this.#delegations += 1;
  }

  #remove(id: string, name: string): void {
    const key = textKey(name);
    const node = this.#nodes.get(key);
    const removed = node?.remove(id);
    if (node === undefined || removed === undefined) return;
    if (removed.type === "NS" && key !== this.apexKey) this.#delegations -= 1;
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
