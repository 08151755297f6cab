/**
 * Which records a zone can hold together: those that can share a name (RFC 1034 section 3.6.2, and
 * the service's own rules), and the targets that a proxied CNAME can have.
 */
import { problem, type Problem } from "../record/problem.ts";
import { parentName } from "../record/record-name.ts";
import type { RecordDraft } from "../record/zone-record.ts";

/** A record at the same name: the fields that the rules compare. */
export type Neighbour = Pick<RecordDraft, "type" | "content" | "priority">;

export interface Apex {
  readonly zoneName: string;
  /** The targets of the apex NS records, which a zone serves without stored records. */
  readonly nameServers: readonly string[];
}

const addressTypes = new Set(["A", "AAAA", "CNAME"]);
/** A delegation may have DS records (RFC 4034 section 5). */
const delegationTypes = new Set(["NS", "DS"]);

/** `neighbours` are the other records at the draft's name. */
export function findConflict(
  draft: RecordDraft,
  neighbours: readonly Neighbour[],
  { zoneName, nameServers }: Apex,
): Problem | null {
  const { type, content, priority } = draft;
  const isIdentical = (other: Neighbour) =>
    other.type === type && other.content === content && other.priority === priority;
  if (neighbours.some(isIdentical)) return problem.identicalRecord();
  const isApex = draft.name === zoneName;
  if (isApex && type === "NS" && nameServers.includes(content)) return problem.identicalRecord();

  const types = new Set(neighbours.map((other) => other.type));
  if (type === "CNAME" && [...types].some((other) => addressTypes.has(other))) {
    return problem.hostTaken();
  }
  if ((type === "A" || type === "AAAA") && types.has("CNAME")) return problem.cnameTaken();
  if (isApex) return null;
  if (!delegationTypes.has(type) && types.has("NS")) return problem.nsTaken();
  if (type === "NS" && [...types].some((other) => !delegationTypes.has(other))) {
    return problem.otherTypeTaken();
  }
  return null;
}

const conflictCodes = new Set(
  [problem.hostTaken(), problem.cnameTaken(), problem.nsTaken(), problem.otherTypeTaken()].map(
    ({ code }) => code,
  ),
);

/** Whether other records of a zone are the reason, and not the record itself. */
export function isConflict({ code }: Problem): boolean {
  return conflictCodes.has(code);
}

/** `null`: the name does not exist. "external": another server is authoritative for the name. */
export type TargetState =
  | { readonly hasAddress: boolean; readonly cname: string | null }
  | null
  | "external";

/** RFC 1034 has no limit; resolvers stop at about this length. */
const chainLengthMax = 16;

/**
 * A proxied CNAME must lead to a name with an address. The check follows the CNAME chain through
 * the zones of this server; the caller provides the look-up of names. Returns the name at which the
 * chain fails, or `null` when the chain ends at an address.
 */
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
  while (current !== zoneName && parentName(current) !== "") {
    names.push(current);
    current = parentName(current);
  }
  return names;
}

/** The wildcards that can match a missing name, nearest first (RFC 4592). */
export function wildcardsFor(name: string, zoneName: string): string[] {
  return namesBelowApex(name, zoneName).map((below) => `*.${parentName(below)}`);
}
