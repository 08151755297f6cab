/** A record of a zone: the fields that clients set, the dates, and the TTL. */
import { readInteger } from "./fields.ts";
import { problem, type ReportProblem } from "./problem.ts";

export interface RecordSettings {
  readonly ipv4_only?: boolean;
  readonly ipv6_only?: boolean;
  readonly flatten_cname?: boolean;
}

/** A validated request in canonical form; `content` and `priority` are the rdata. */
export interface RecordDraft {
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number;
  readonly proxied: boolean;
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly settings: RecordSettings;
  /** Kept for clients; no traffic passes here that could be routed. */
  readonly privateRouting: boolean;
}

export interface ZoneRecord extends RecordDraft {
  readonly id: string;
  readonly createdOn: string;
  readonly modifiedOn: string;
  /** `null` without a comment. */
  readonly commentModifiedOn: string | null;
  /** `null` without tags. */
  readonly tagsModifiedOn: string | null;
}

export function annotationDates(
  draft: RecordDraft,
  before: ZoneRecord | null,
  now: string,
): Pick<ZoneRecord, "commentModifiedOn" | "tagsModifiedOn"> {
  const isSameComment = before?.comment === draft.comment;
  const isSameTags = JSON.stringify(before?.tags) === JSON.stringify(draft.tags);
  return {
    commentModifiedOn:
      draft.comment === null ? null : isSameComment ? before.commentModifiedOn : now,
    tagsModifiedOn: draft.tags.length === 0 ? null : isSameTags ? before!.tagsModifiedOn : now,
  };
}

/** A write without a change must not modify the record. */
export function isSameDraft(record: RecordDraft, draft: RecordDraft): boolean {
  const fields = Object.keys(draft) as (keyof RecordDraft)[];
  return fields.every((field) => JSON.stringify(record[field]) === JSON.stringify(draft[field]));
}

/** The TTL "Auto" in requests and responses. */
export const ttlAuto = 1;
/** The specification: the TTL of a record with "Auto" in DNS answers. */
export const ttlAutoSeconds = 300;

/** The deployed service's limits for records. */
export const ttlSecondsMin = 60;
export const ttlSecondsMax = 86_400;

/** The deployed service's ranges for the TTLs of a zone's apex: NS, SOA, and negative answers. */
export const nsTtlSecondsRange = [30, ttlSecondsMax] as const;
export const soaTtlSecondsRange = [300, ttlSecondsMax] as const;
export const negativeTtlSecondsRange = [ttlSecondsMin, ttlSecondsMax] as const;

/** A proxied record always has "Auto"; the given TTL must be valid all the same. */
export function acceptTtl(input: unknown, proxied: boolean, report: ReportProblem): number {
  if (input === undefined || input === null) return ttlAuto;
  const ttl = readInteger(input);
  if (ttl === ttlAuto) return ttl;
  if (ttl === null || ttl < ttlSecondsMin || ttl > ttlSecondsMax) {
    report(problem.ttlRange(ttlSecondsMin, ttlSecondsMax));
    return ttlAuto;
  }
  return proxied ? ttlAuto : ttl;
}

/** The TTL of a zone file or a transfer, which may have any, as a TTL that records can have. */
export function nearestTtl(ttlSeconds: number): number {
  return Math.min(Math.max(ttlSeconds, ttlSecondsMin), ttlSecondsMax);
}

export function servedTtlSeconds(ttl: number): number {
  return ttl === ttlAuto ? ttlAutoSeconds : ttl;
}
