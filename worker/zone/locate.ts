/**
 * Where a name is in a zone: RFC 1034 section 4.3.2 step 3 as RFC 4592 section 3.3.1 has it. Cuts
 * come first, the highest before the others, for what is below one is another zone's; then the name
 * itself; then the wildcard of its closest encloser, and of no other.
 */
import { parentKey, wildcardKey, type NameKey } from "../wire/name-key.ts";
import { TYPE } from "../wire/numbers.ts";
import type { ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";

export type Place =
  | { readonly kind: "cut"; readonly node: ServedNode }
  | { readonly kind: "exact"; readonly node: ServedNode }
  | { readonly kind: "wildcard"; readonly node: ServedNode }
  | { readonly kind: "none" };

const NONE: Place = { kind: "none" };

/** The highest cut at a name or above it; the apex is none. */
function findCut(zone: ServedZone, key: NameKey): ServedNode | null {
  let cut: ServedNode | null = null;
  for (let name = key; name !== zone.apexKey; name = parentKey(name)) {
    const node = zone.find(name);
    if (node !== undefined && zone.view(node).sets.has(TYPE.NS)) cut = node;
  }
  return cut;
}

/** The name must be the zone's apex or below it. */
export function locate(zone: ServedZone, key: NameKey, type: number): Place {
  if (zone.hasDelegations) {
    const cut = findCut(zone, key);
    // RFC 4035 section 3.1.4.1: DS is the one type of the parent at the cut itself.
    if (cut !== null && !(type === TYPE.DS && cut.key === key)) return { kind: "cut", node: cut };
  }
  const node = zone.find(key);
  if (node !== undefined) return { kind: "exact", node };
  let encloser = parentKey(key);
  // All names above one that exists do exist, so the first is the closest.
  while (zone.find(encloser) === undefined) encloser = parentKey(encloser);
  const source = zone.find(wildcardKey(encloser));
  return source === undefined ? NONE : { kind: "wildcard", node: source };
}
