/** The columns of the record table: their text, what can be edited in place, and the request of a change. */
import type { DnsRecord } from "../../api/zones-api.ts";
import type { RecordSort } from "../location.ts";
import { readNumber, readTags, readTtl, ttlText } from "./record-values.ts";

export type RecordColumn =
  | "type"
  | "name"
  | "content"
  | "priority"
  | "ttl"
  | "proxied"
  | "comment"
  | "tags";

export const recordColumns: readonly {
  readonly column: RecordColumn;
  readonly label: string;
  /** Whether the record API sorts by the column. */
  readonly isSortable: boolean;
}[] = [
  { column: "type", label: "Type", isSortable: true },
  { column: "name", label: "Name", isSortable: true },
  { column: "content", label: "Content", isSortable: true },
  { column: "priority", label: "Priority", isSortable: false },
  { column: "ttl", label: "TTL", isSortable: true },
  { column: "proxied", label: "Proxied", isSortable: true },
  { column: "comment", label: "Comment", isSortable: false },
  { column: "tags", label: "Tags", isSortable: false },
];

/** The text that a person edits. */
export function cellText(record: DnsRecord, column: RecordColumn): string {
  switch (column) {
    case "type":
    case "name":
    case "content":
      return record[column];
    case "priority":
      return record.priority === undefined ? "" : String(record.priority);
    case "ttl":
      return ttlText(record.ttl);
    case "proxied":
      return record.proxied ? "yes" : "no";
    case "comment":
      return record.comment ?? "";
    case "tags":
      return record.tags.join(", ");
  }
}

/**
 * How a cell is edited: as text in its place, or in the form of the record, because its content has
 * fields. `null`: the record has no such value.
 */
export function cellEditing(record: DnsRecord, column: RecordColumn): "text" | "form" | null {
  switch (column) {
    case "type":
    case "proxied":
      return null;
    case "content":
      return record.data === undefined ? "text" : "form";
    case "priority":
      return record.priority === undefined ? null : "text";
    // A proxied record always has the TTL "auto".
    case "ttl":
      return record.proxied ? null : "text";
    case "name":
    case "comment":
    case "tags":
      return "text";
  }
}

/** The body of the PATCH; `null` when the text says what the record has. */
export function cellPatch(
  record: DnsRecord,
  column: RecordColumn,
  text: string,
): Readonly<Record<string, unknown>> | null {
  if (text.trim() === cellText(record, column)) return null;
  switch (column) {
    case "ttl":
      return { ttl: readTtl(text) };
    case "priority":
      return { priority: readNumber(text) };
    case "tags":
      return { tags: readTags(text) };
    case "type":
    case "name":
    case "content":
    case "proxied":
    case "comment":
      return { [column]: text.trim() };
  }
}

/** The order after a click on the head of a column: ascending first, then the other way. */
export function nextSort(sort: RecordSort, column: RecordColumn): RecordSort {
  return (sort === column ? `-${column}` : column) as RecordSort;
}

/** The labels below the zone, and the zone; a name that is not in the zone is whole. */
export function splitName(name: string, zone: string): readonly [string, string] {
  if (name === zone) return ["", zone];
  return name.endsWith(`.${zone}`) ? [name.slice(0, -zone.length - 1), `.${zone}`] : [name, ""];
}
