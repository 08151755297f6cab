/**
 * A name of a zone as it is served. A node keeps the records of the name, and makes the sets for
 * answers from them at the first query: most names of a large zone are not queried between two
 * changes. A node without records is an empty non-terminal: it exists because of names below it.
 */
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { recordType } from "../record/types.ts";
import { servedTtlSeconds, ttlAutoSeconds } from "../record/zone-record.ts";
import type { ServedRecord, ZoneHead } from "../rules/zone.ts";
import { encodeName, keyOctets, type NameKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";

/** A CNAME. */
export interface Alias {
  readonly target: Uint8Array;
  readonly ttlSeconds: number;
}

/** The sets that answer queries for a name. */
export interface NodeView {
  readonly owner: Uint8Array;
  /** By type; without addresses behind the proxy and without a flattened CNAME. */
  readonly sets: ReadonlyMap<number, RecordSet>;
  readonly proxied: boolean;
  /** The HTTPS set is generated, not a record of the zone. */
  readonly generatedHttps: boolean;
  /** A CNAME that is answered with itself. */
  readonly alias: Alias | null;
  /** A CNAME that is answered with the addresses of its target. */
  readonly flattened: Alias | null;
}

export class ServedNode {
  readonly key: NameKey;
  readonly records: ServedRecord[] = [];
  /** The number of names one label below. */
  children = 0;
  /** `null` after a change of the node or of the zone's head. */
  view: NodeView | null = null;

  constructor(key: NameKey) {
    this.key = key;
  }

  add(record: ServedRecord): void {
    this.records.push(record);
    this.view = null;
  }

  remove(id: string): ServedRecord | undefined {
    const index = this.records.findIndex((record) => record.id === id);
    this.view = null;
    return index < 0 ? undefined : this.records.splice(index, 1)[0];
  }
}

/** @param apexSets SOA and NS, which the zone has without records; `null` below the apex */
export function makeView(
  { key, records }: ServedNode,
  head: ZoneHead,
  platformAddresses: readonly string[],
  apexSets: readonly RecordSet[] | null,
): NodeView {
  const owner = keyOctets(key);
  const isProxying = !head.paused && head.settings.zone_mode !== "dns_only";
  const proxied = isProxying ? records.filter((record) => record.proxied) : [];
  const sets = new Map<number, RecordSet>();
  for (const set of apexSets ?? []) addToSets(sets, set);
  let alias: Alias | null = null;
  let flattened: Alias | null = null;
  // Other name servers refuse a CNAME beside other records (RFC 2181 section 10.1), and resolvers
  // that have cached the CNAME would not see the other records.
  const isMixed = records.some(({ type }) => type !== "CNAME");
  for (const record of records) {
    const type = recordType(record.type);
    // One proxied record proxies all addresses of the name.
    if (proxied.length > 0 && type.proxiable) continue;
    const ttlSeconds = servedTtlSeconds(record.ttl);
    if (record.type === "CNAME") {
      const target = encodeName(record.content);
      const isFlat = head.settings.flatten_all_cnames || record.settings.flatten_cname === true;
      if (apexSets !== null || isMixed || isFlat) {
        flattened = { target, ttlSeconds };
        continue;
      }
      alias = { target, ttlSeconds };
    }
    const data = [type.write(type.parseContent(record.content, record.priority))];
    addToSets(sets, { owner, type: type.code, ttlSeconds, data });
  }
  let generatedHttps = false;
  if (proxied.length > 0) {
    for (const [type, data] of platformData(platformAddresses, proxied, head)) {
      if (data.length === 0 || (type === typeCodes.HTTPS && sets.has(type))) continue;
      sets.set(type, { owner, type, ttlSeconds: ttlAutoSeconds, data });
      generatedHttps ||= type === typeCodes.HTTPS;
    }
  }
  return { owner, sets, proxied: proxied.length > 0, generatedHttps, alias, flattened };
}

/** RFC 2181 section 5.2: a set has one TTL, the least of its records. */
function addToSets(sets: Map<number, RecordSet>, more: RecordSet): void {
  const set = sets.get(more.type);
  if (set === undefined) sets.set(more.type, more);
  else {
    const ttlSeconds = Math.min(set.ttlSeconds, more.ttlSeconds);
    sets.set(more.type, { ...set, ttlSeconds, data: [...set.data, ...more.data] });
  }
}

/**
 * What a proxied name has: the platform's addresses in place of its own, and an HTTPS record that
 * tells browsers which versions of HTTP the platform speaks.
 *
 * @param proxied the proxied records of the name, at least one
 */
function platformData(
  addresses: readonly string[],
  proxied: readonly ServedRecord[],
  { http2, http3 }: ZoneHead,
): [type: number, data: readonly Uint8Array[]][] {
  // A family is left out when every proxied record of the name leaves it out.
  const hasIpv4 = !proxied.every(({ settings }) => settings.ipv6_only === true);
  const hasIpv6 = !proxied.every(({ settings }) => settings.ipv4_only === true);
  const ipv4 = hasIpv4 ? addresses.filter((address) => !address.includes(":")) : [];
  const ipv6 = hasIpv6 ? addresses.filter((address) => address.includes(":")) : [];
  const alpn = [...(http3 ? ["h3"] : []), ...(http2 ? ["h2"] : [])].join(",");
  const words = [`1 . alpn="${alpn}"`];
  if (ipv4.length > 0) words.push(`ipv4hint="${ipv4.join(",")}"`);
  if (ipv6.length > 0) words.push(`ipv6hint="${ipv6.join(",")}"`);
  const https = recordType("HTTPS");
  return [
    [typeCodes.A, ipv4.map((address) => parseIpv4(address)!)],
    [typeCodes.AAAA, ipv6.map((address) => parseIpv6(address)!)],
    // Without a version there is nothing to announce.
    [typeCodes.HTTPS, alpn ? [https.write(https.parseContent(words.join(" "), null))] : []],
  ];
}
