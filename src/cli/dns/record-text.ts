/** Records as lines of text. */
import { formatTable } from "../../base/format.ts";
import type { ApiRecord } from "../../dns/client/api-client.ts";

/** The API's value for an automatic TTL. */
const ttlAuto = 1;

/** Name, TTL, type and content; after a semicolon, what DNS does not carry. */
function cells(record: ApiRecord): readonly string[] {
  const { name, ttl, type, proxied, comment, tags } = record;
  const remarks = [
    ...(proxied ? ["proxied"] : []),
    ...(comment === null || comment === "" ? [] : [comment]),
    ...tags,
  ];
  const shown = [name, ttl === ttlAuto ? "auto" : String(ttl), type, contentText(record)];
  return remarks.length === 0 ? shown : [...shown, `; ${remarks.join(", ")}`];
}

export function recordsText(records: readonly ApiRecord[]): string {
  return formatTable(records.map(cells));
}

export function recordText(record: ApiRecord): string {
  return cells(record).join(" ");
}

/** The content after its priority, which the API keeps in a field beside the content. */
export function contentText({ content, priority }: ApiRecord): string {
  return priority === undefined ? content : `${priority} ${content}`;
}
