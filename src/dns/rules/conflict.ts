/** Decides which records can share a name (RFC 1034 section 3.6.2, and the service's own rules). */
import { problem, type Problem } from "../record/problem.ts";
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
