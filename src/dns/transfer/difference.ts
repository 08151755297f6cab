/** What has to be removed from and added to a list of records to make another of it. */
import type { ResourceRecord } from "../wire/resource-record.ts";
import { textKey } from "../wire/name-key.ts";

export interface Difference {
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

/** In any order, and without duplicates, which a zone cannot hold (RFC 2181 section 5). */
export function difference(
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
): Difference {
  const old = new Map(before.map((record) => [recordKey(record), record]));
  const added = new Map<string, ResourceRecord>();
  for (const record of after) {
    const key = recordKey(record);
    if (!old.delete(key)) added.set(key, record);
  }
  return { removed: [...old.values()], added: [...added.values()] };
}

/** The TTL counts: a secondary learns of a new one only by removing and adding. */
function recordKey({ name, type, class: recordClass, ttlSeconds, data }: ResourceRecord): string {
  return `${textKey(name)} ${type} ${recordClass} ${ttlSeconds} ${String.fromCharCode(...data)}`;
}
