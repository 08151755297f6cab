/** A name in the zones of a server, for the edge: from memory, by the rules of DNS for wildcards and cuts. */
import type { ServedZone, ServedZones } from "../../dns/answer/served-zones.ts";
import { textKey } from "../../dns/wire/name.ts";
import { typeCodes } from "../../dns/wire/numbers.ts";
import { addressRecords } from "../core/destination.ts";
import type { EdgeRecord, ZoneView } from "../core/edge-table.ts";
import { asciiHost } from "../core/route-pattern.ts";

/** Where the owner of the zones answers with a `ZoneView`, below its socket: `/edge/zone?host=NAME`. */
export const zoneViewPath = "/edge/zone";
/** A page with more names helps no more. */
const namesMax = 20;
/** A longer chain of CNAMEs is a mistake; resolvers follow about as many. */
const cnamesMax = 8;

/** @returns `null` if no zone has the name */
export function viewZone(zones: ServedZones, host: string): ZoneView | null {
  const name = asciiHost(host);
  const zone = name === null ? undefined : zones.findFor(textKey(name), typeCodes.A);
  if (name === null || zone === undefined) return null;
  const records = recordsAt(zone, name);
  const addresses = addressRecords(records);
  const targets = follow(zones, addresses);
  return {
    zoneName: zone.name,
    records,
    ...(targets !== null && { targets }),
    // Only pages show names.
    names: addresses.some(({ proxied }) => proxied) ? [] : addressNames(zone),
  };
}

/** None at and below a cut: another zone has these names. */
function recordsAt(zone: ServedZone, name: string): EdgeRecord[] {
  const location = zone.locate(textKey(name), typeCodes.A);
  if (location.kind === "none" || location.kind === "cut") return [];
  const { proxied: isProxying } = zone.view(location.node);
  return location.node.records.map(({ name: owner, type, content, proxied }) => {
    return { name: owner, type, content, proxied: proxied && isProxying };
  });
}

/** The records at the end of the CNAMEs; `null` if the zones have none of their targets. */
function follow(zones: ServedZones, records: readonly EdgeRecord[]): EdgeRecord[] | null {
  let isFollowed = false;
  let ends = [...records];
  for (let step = 0; step <= cnamesMax; step++) {
    let isEnd = true;
    ends = ends.flatMap((record) => {
      const target = record.type === "CNAME" ? asciiHost(record.content) : null;
      const zone = target === null ? undefined : zones.findFor(textKey(target), typeCodes.A);
      if (target === null || zone === undefined) return [record];
      isFollowed = true;
      isEnd = false;
      return addressRecords(recordsAt(zone, target));
    });
    if (isEnd) return isFollowed ? ends : null;
  }
  return [];
}

/** By the serial of the zone: a large zone has many names, and most requests want none. */
const known = new WeakMap<ServedZone, { readonly serial: number; readonly names: string[] }>();

function addressNames(zone: ServedZone): string[] {
  const last = known.get(zone);
  if (last?.serial === zone.serial) return last.names;
  const all = [...zone.nodes()].flatMap(({ records }) => addressRecords(records)[0]?.name ?? []);
  const names = all.toSorted().slice(0, namesMax);
  known.set(zone, { serial: zone.serial, names });
  return names;
}
