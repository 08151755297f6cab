/**
 * Where a name is in a zone: RFC 1034 section 4.3.2 step 3 as RFC 4592 section 3.3.1 has it. Cuts
 * come first, the highest before the others, for what is below one is another zone's; then the name
 * itself; then the wildcard of its closest encloser, and of no other.
 */
import { wildcardKey, type NameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";

export type Place =
  | { readonly kind: "cut"; readonly node: ServedNode }
  | { readonly kind: "exact"; readonly node: ServedNode }
  | { readonly kind: "wildcard"; readonly node: ServedNode }
  | { readonly kind: "none" };

const none: Place = { kind: "none" };

/**
 * The name must be the zone's apex or below it. The way goes down from the apex and ends where no
 * name exists: a name of many labels costs no more than the zone is deep.
 */
export function locate(zone: ServedZone, key: NameKey, type: number): Place {
  if (!zone.hasDelegations) {
    const node = zone.find(key);
    if (node !== undefined) return { kind: "exact", node };
  }
  const starts: number[] = [];
  for (let at = 0; key.length - at > zone.apexKey.length; at += key.charCodeAt(at) + 1) {
    starts.push(at);
  }
  let node = zone.find(zone.apexKey)!;
  for (let label = starts.length - 1; label >= 0; label--) {
    const below = zone.find(key.slice(starts[label]));
    // All names above one that exists do exist: this is the closest encloser.
    if (below === undefined) return coveredBy(zone, node);
    node = below;
    if (!zone.hasDelegations || !zone.view(node).sets.has(typeCodes.NS)) continue;
    // RFC 4035 section 3.1.4.1: DS is the one type of the parent at the cut itself.
    if (type !== typeCodes.DS || label > 0) return { kind: "cut", node };
  }
  return { kind: "exact", node };
}

function coveredBy(zone: ServedZone, encloser: ServedNode): Place {
  const source = zone.find(wildcardKey(encloser.key));
  return source === undefined ? none : { kind: "wildcard", node: source };
}
