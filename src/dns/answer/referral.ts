/** A referral: the name servers of a delegated zone, with the addresses needed to reach them. */
import { isAtOrBelow, nameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { locateName } from "./name-location.ts";
import type { ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";

export function refer(
  zone: ServedZone,
  cut: ServedNode,
): { readonly servers: RecordSet; readonly glue: RecordSet[]; readonly siblings: RecordSet[] } {
  const servers = zone.view(cut).sets.get(typeCodes.NS)!;
  /** Addresses of servers below this cut: the referral is useless without them (RFC 9471). */
  const glue: RecordSet[] = [];
  /** Addresses of servers below other cuts of this zone. */
  const siblings: RecordSet[] = [];
  for (const target of servers.data) {
    const key = nameKey(target);
    const node = isAtOrBelow(key, zone.apexKey) ? zone.find(key) : undefined;
    // An address above all cuts is not glue: clients can query it.
    if (node === undefined || locateName(zone, key, typeCodes.A).kind !== "cut") continue;
    const { sets } = zone.view(node);
    const addresses = isAtOrBelow(key, cut.key) ? glue : siblings;
    for (const type of [typeCodes.A, typeCodes.AAAA]) {
      const set = sets.get(type);
      if (set !== undefined) addresses.push(set);
    }
  }
  return { servers, glue, siblings };
}
