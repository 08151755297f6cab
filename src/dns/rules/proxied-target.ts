/**
 * A proxied CNAME must lead to a name with an address. The walk stays inside what is known: the
 * zone itself, and through `lookup` the other zones served here.
 */
export interface NameFacts {
  readonly hasAddress: boolean;
  readonly cname: string | null;
}

/** `null`: the name does not exist. "elsewhere": another server's business. */
export type Found = NameFacts | null | "elsewhere";
export type LookUp = (name: string) => Found;

/** RFC 1034 asks for no limit; resolvers give up at about this depth. */
const chainLengthMax = 16;

/** The target at which a chain fails, or `null` when it ends well. */
export function findBrokenTarget(target: string, lookUp: LookUp): string | null {
  const seen = new Set<string>();
  let current = target;
  for (;;) {
    if (seen.has(current) || seen.size >= chainLengthMax) return target;
    seen.add(current);
    const facts = lookUp(current);
    // Deviation: a target that nobody here serves is trusted; nothing on this machine can ask.
    if (facts === "elsewhere") return null;
    if (facts === null) return current;
    if (facts.hasAddress) return null;
    if (facts.cname === null) return current;
    current = facts.cname;
  }
}

/** The names between a name and the apex, itself included: where a delegation could be. */
export function namesBelowApex(name: string, zoneName: string): string[] {
  const names: string[] = [];
  let current = name;
  while (current !== zoneName && current.includes(".")) {
    names.push(current);
    current = current.slice(current.indexOf(".") + 1);
  }
  return names;
}

/** The wildcards that could answer for a name that does not exist, nearest first (RFC 4592). */
export function wildcardsFor(name: string, zoneName: string): string[] {
  return namesBelowApex(name, zoneName).map((below) => `*${below.slice(below.indexOf("."))}`);
}
