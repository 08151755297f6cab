/** Where the rules of an answer lead: the zone, or the records that a rule was applied to. */
import type { LookupReason } from "../../api/zones-api.ts";
import type { Place } from "../location.ts";

/** Rules that found records at their name. */
const foundRecords = new Set([
  "delegated",
  "exact",
  "wildcard",
  "alias",
  "flattened",
  "proxied",
  "https-made",
  "parent-side",
]);

export interface PlacedReason extends LookupReason {
  /** `null` where there is nothing to show. */
  readonly place: Place | null;
}

export function placeReasons(reasons: readonly LookupReason[]): readonly PlacedReason[] {
  // A chain of aliases may lead from zone to zone: the zone of a rule is the last one before it.
  let zone: string | null = null;
  return reasons.map((reason) => {
    if (reason.rule === "zone") zone = reason.name;
    const isFound = foundRecords.has(reason.rule);
    if (zone === null || !(isFound || reason.rule === "zone")) return { ...reason, place: null };
    const search = isFound ? reason.name : "";
    return { ...reason, place: { view: "records", zone, search, record: null } };
  });
}
