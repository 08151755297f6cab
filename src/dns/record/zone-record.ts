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
}

export interface ZoneRecord extends RecordDraft {
  readonly id: string;
  readonly createdOn: string;
  readonly modifiedOn: string;
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
    JSON.stringify(one.tags) === JSON.stringify(other.tags) &&
    JSON.stringify(one.settings) === JSON.stringify(other.settings)
  );
}
