/** Records as lines of text. */
import { recordTypes } from "../../dns/record/registry.ts";
import type { ApiRecord } from "../../dns/client/api-client.ts";
import { formatTable } from "../../base/format.ts";

const ttlAuto = 1;

/** Name, TTL, type and content, and after a semicolon what DNS does not carry. */
function cells(record: ApiRecord): readonly string[] {
  const { name, ttl, type, proxied, comment, tags } = record;
  const notes = [
    ...(proxied ? ["proxied"] : []),
    ...(comment === null || comment === "" ? [] : [comment]),
    ...tags,
  ];
  const shown = [name, ttl === ttlAuto ? "auto" : String(ttl), type, contentText(record)];
  return notes.length === 0 ? shown : [...shown, `; ${notes.join(", ")}`];
}

export function recordsText(records: readonly ApiRecord[]): string {
  return formatTable(records.map(cells));
}

export function recordText(record: ApiRecord): string {
  return cells(record).join(" ");
}

/** With the priority that stands beside it. */
export function contentText({ type, content, priority }: ApiRecord): string {
  const isBeside = recordTypes.get(type)?.topLevelPriority === true && priority !== undefined;
  return isBeside ? `${priority} ${content}` : content;
}
