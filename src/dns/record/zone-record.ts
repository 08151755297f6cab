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
  /** `null` without a comment, and in records of earlier versions. */
  readonly commentModifiedOn: string | null;
  /** `null` without tags, and in records of earlier versions. */
  readonly tagsModifiedOn: string | null;
}

/** The dates of a record's comment and tags after a write. */
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
export function isSameDraft(one: RecordDraft, other: RecordDraft): boolean {
  return (
    one.name === other.name &&
    one.type === other.type &&
    one.content === other.content &&
    one.priority === other.priority &&
    one.ttl === other.ttl &&
    one.proxied === other.proxied &&
    one.comment === other.comment &&
    one.privateRouting === other.privateRouting &&
    JSON.stringify(one.tags) === JSON.stringify(other.tags) &&
    JSON.stringify(one.settings) === JSON.stringify(other.settings)
  );
}
