/**
 * A proxied CNAME must lead to a name with an address. The check follows the CNAME chain through
 * the zones of this server; the caller provides the look-up of names.
 */

/** `null`: the name does not exist. "external": another server is authoritative for the name. */
export type TargetState =
  | { readonly hasAddress: boolean; readonly cname: string | null }
  | null
  | "external";

/** RFC 1034 has no limit; resolvers stop at about this length. */
const chainLengthMax = 16;

/** The name at which the chain fails, or `null` when the chain ends at an address. */
export function findBrokenTarget(
  target: string,
  lookUp: (name: string) => TargetState,
): string | null {
  const seen = new Set<string>();
  let current = target;
  for (;;) {
    if (seen.has(current) || seen.size >= chainLengthMax) return target;
    seen.add(current);
    const state = lookUp(current);
    // Deviation: a target on another server counts as valid, because this check sends no queries.
    if (state === "external") return null;
    if (state === null) return current;
    if (state.hasAddress) return null;
    if (state.cname === null) return current;
    current = state.cname;
  }
}

/** A name and its ancestors below the apex: the possible owners of a delegation. */
export function namesBelowApex(name: string, zoneName: string): string[] {
  const names: string[] = [];
  let current = name;
  while (current !== zoneName && current.includes(".")) {
    names.push(current);
    current = current.slice(current.indexOf(".") + 1);
  }
  return names;
}

/** The wildcards that can match a missing name, nearest first (RFC 4592). */
export function wildcardsFor(name: string, zoneName: string): string[] {
  return namesBelowApex(name, zoneName).map((below) => `*${below.slice(below.indexOf("."))}`);
}
