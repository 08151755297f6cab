/**
 * A name of a zone as it is served. A node keeps the records that the API was told and makes of
 * them, the first time it is asked, what goes into answers: most names of a large zone are never
 * asked for between two changes. A node without records is an empty non-terminal: it exists because
 * names below it do.
 */
import type { NameKey } from "../wire/name-key.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { Families, Platform } from "./proxied-answer.ts";
import { recordType } from "../record/registry.ts";
import { servedTtlSeconds, ttlAutoSeconds } from "../rules/ttl.ts";
import type { ServedRecord, ZoneHead } from "./served-zone.ts";

export interface Alias {
  readonly target: Uint8Array;
  readonly ttlSeconds: number;
}

/** What a name answers. */
export interface NodeView {
  readonly owner: Uint8Array;
  /** By type; what is hidden or flattened is not among them. */
  readonly sets: ReadonlyMap<number, RecordSet>;
  readonly proxied: boolean;
  /** An HTTPS record that the zone made up is among the sets. */
  readonly madeHttps: boolean;
  /** A CNAME that is answered as such. */
  readonly alias: Alias | null;
  /** A CNAME that is answered with the addresses of its target. */
  readonly flattened: Alias | null;
}

export interface ViewContext {
  readonly head: ZoneHead;
  readonly platform: Platform;
  readonly isApex: boolean;
  /** SOA and NS of the zone itself, for the apex. */
  readonly own: readonly RecordSet[];
}

function keyOctets(key: NameKey): Uint8Array {
  const octets = new Uint8Array(key.length);
  for (let at = 0; at < key.length; at++) octets[at] = key.charCodeAt(at);
  return octets;
}

function isAddress({ type }: ServedRecord): boolean {
  return type === "A" || type === "AAAA" || type === "CNAME";
}

function encodeData({ type, content, priority }: ServedRecord): Uint8Array {
  const definition = recordType(type);
  return definition.write(definition.parseContent(content, priority));
}

/** RFC 2181 section 5.2: one TTL a set, and of several the least. */
function addToSets(sets: Map<number, RecordSet>, more: RecordSet): void {
  const set = sets.get(more.type);
  if (set === undefined) sets.set(more.type, more);
  else {
    const ttl = Math.min(set.ttlSeconds, more.ttlSeconds);
    sets.set(more.type, { ...set, ttlSeconds: ttl, data: [...set.data, ...more.data] });
  }
}

/** A family is left out when each of the proxied records at the name leaves it out. */
function families(proxied: readonly ServedRecord[]): Families {
  return {
    ipv4: !proxied.every(({ settings }) => settings.ipv6_only === true),
    ipv6: !proxied.every(({ settings }) => settings.ipv4_only === true),
  };
}

export class ServedNode {
  readonly key: NameKey;
  readonly records: ServedRecord[] = [];
  /** Names one label below. */
  children = 0;
  #view: NodeView | null = null;

  constructor(key: NameKey) {
    this.key = key;
  }

  add(record: ServedRecord): void {
    this.records.push(record);
    this.#view = null;
  }

  remove(id: string): ServedRecord | undefined {
    const index = this.records.findIndex((record) => record.id === id);
    this.#view = null;
    return index < 0 ? undefined : this.records.splice(index, 1)[0];
  }

  /** After a change of the zone's head. */
  forget(): void {
    this.#view = null;
  }

  /** What was made since the last change. */
  get view(): NodeView | null {
    return this.#view;
  }

  makeView(context: ViewContext): NodeView {
    this.#view = this.#make(context);
    return this.#view;
  }

  #make({ head, platform, isApex, own }: ViewContext): NodeView {
    const owner = keyOctets(this.key);
    const hides = !head.paused && head.settings.zone_mode !== "dns_only";
    const proxied = hides ? this.records.filter((record) => record.proxied) : [];
    const sets = new Map<number, RecordSet>();
    for (const set of own) addToSets(sets, set);
    let alias: Alias | null = null;
    let flattened: Alias | null = null;
    for (const record of this.records) {
      // One proxied address at a name proxies all.
      if (proxied.length > 0 && isAddress(record)) continue;
      const seconds = servedTtlSeconds(record.ttl);
      if (record.type === "CNAME") {
        const target = encodeName(record.content);
        const { flatten_all_cnames } = head.settings;
        if (isApex || flatten_all_cnames || record.settings.flatten_cname === true) {
          flattened = { target, ttlSeconds: seconds };
          continue;
        }
        alias = { target, ttlSeconds: seconds };
      }
      const { code } = recordType(record.type);
      addToSets(sets, { owner, type: code, ttlSeconds: seconds, data: [encodeData(record)] });
    }
    let madeHttps = false;
    if (proxied.length > 0) {
      const served = families(proxied);
      const seconds = ttlAutoSeconds;
      const put = (type: number, data: readonly Uint8Array[]) =>
        data.length > 0 && sets.set(type, { owner, type, ttlSeconds: seconds, data });
      if (served.ipv4) put(typeCodes.A, platform.ipv4);
      if (served.ipv6) put(typeCodes.AAAA, platform.ipv6);
      const https = sets.has(typeCodes.HTTPS) ? null : platform.httpsData(head, served);
      if (https !== null) {
        put(typeCodes.HTTPS, [https]);
        madeHttps = true;
      }
    }
    return { owner, sets, proxied: proxied.length > 0, madeHttps, alias, flattened };
  }
}
