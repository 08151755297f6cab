/**
 * The location of a name in a zone: RFC 1034 section 4.3.2 step 3, as RFC 4592 section 3.3.1
 * amends it. A zone cut comes first, the highest before lower ones, because names below a cut belong
 * to another zone; then the name itself; then the wildcard of its closest encloser, and no other.
 */
import { wildcardKey, type NameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { ServedNode } from "./served-node.ts";
import type { ServedZone } from "./served-zone.ts";

export type NameLocation =
  | { readonly kind: "cut" | "exact" | "wildcard"; readonly node: ServedNode }
  | { readonly kind: "none" };

const none: NameLocation = { kind: "none" };

/**
 * The name must be the zone's apex or below it. The search starts at the apex and ends at the first
 * name that does not exist, so its cost depends on the depth of the zone, not of the name.
 */
export function locateName(zone: ServedZone, key: NameKey, type: number): NameLocation {
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
    if (below === undefined) {
      // All ancestors of an existing name exist, so this node is the closest encloser.
      const wildcard = zone.find(wildcardKey(node.key));
      return wildcard === undefined ? none : { kind: "wildcard", node: wildcard };
    }
    node = below;
    if (!zone.hasDelegations || !zone.view(node).sets.has(typeCodes.NS)) continue;
    // RFC 4035 section 3.1.4.1: at the cut itself, DS alone belongs to the parent.
    if (type !== typeCodes.DS || label > 0) return { kind: "cut", node };
  }
  return { kind: "exact", node };
}
