/**
 * The table of records. Columns that no record of the page fills are left out. The arrow keys move from
 * record to record, Enter opens the form, and Delete deletes.
 */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { DnsRecord } from "../../api/zones-api.ts";
import { shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Menu } from "../frame/menu.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import type { Place, RecordSort } from "../location.ts";
import { nextSort, splitName, ttlText } from "./record-rules.ts";

export type RecordsPlace = Extract<Place, { view: "records" }>;

interface RecordTableProps {
  readonly place: RecordsPlace;
  readonly records: readonly DnsRecord[];
  /** The ids of records whose deletion waits or runs. */
  readonly deleted: ReadonlySet<string>;
  readonly onSort: (sort: RecordSort) => void;
  readonly onDelete: (record: DnsRecord) => void;
}

interface Column {
  readonly id: string;
  readonly label: string;
  /** Whether the record API sorts by the column. */
  readonly isSortable?: true;
  /** Whether a record fills the column; always, if it is absent. */
  readonly has?: (record: DnsRecord) => boolean;
  readonly show: (record: DnsRecord, place: RecordsPlace) => ComponentChildren;
}

const columns: readonly Column[] = [
  {
    id: "type",
    label: "Type",
    isSortable: true,
    show: ({ type }) => <span class="badge">{type}</span>,
  },
  {
    id: "name",
    label: "Name",
    isSortable: true,
    show: (record, place) => {
      const [own, rest] = splitName(record.name, place.zone);
      return (
        <Link to={{ ...place, record: record.id }} class="code record-link">
          {own}
          <span class="zones-hint">{rest}</span>
        </Link>
      );
    },
  },
  {
    id: "content",
    label: "Content",
    isSortable: true,
    show: ({ content }) => <bdi class="code record-content">{shownKey(content)}</bdi>,
  },
  {
    id: "priority",
    label: "Priority",
    has: ({ priority }) => priority !== undefined,
    show: ({ priority }) => priority,
  },
  { id: "ttl", label: "TTL", isSortable: true, show: ({ ttl }) => ttlText(ttl) },
  {
    id: "proxied",
    label: "Proxied",
    isSortable: true,
    has: ({ proxied }) => proxied,
    show: ({ proxied }) => proxied && "yes",
  },
  {
    id: "comment",
    label: "Comment",
    has: ({ comment }) => comment !== null,
    show: ({ comment }) => <bdi>{shownKey(comment ?? "")}</bdi>,
  },
  {
    id: "tags",
    label: "Tags",
    has: ({ tags }) => tags.length > 0,
    show: ({ tags }) =>
      tags.map((tag) => (
        <bdi key={tag} class="badge">
          {shownKey(tag)}
        </bdi>
      )),
  },
];

export function RecordTable(props: RecordTableProps) {
  const { place, records, deleted, onSort, onDelete } = props;
  const { sort = "name" } = place;
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = columns.filter(({ has }) => has === undefined || records.some(has));

  /** The row that has the focus, or had it before its record went away. */
  const focused = useRef<number | null>(null);
  const focusRow = (index: number): void => {
    const links = body.current?.querySelectorAll<HTMLElement>(".record-link");
    links?.item(Math.max(0, Math.min(index, links.length - 1)))?.focus();
  };
  useLayoutEffect(() => {
    if (focused.current !== null && document.activeElement === document.body) {
      focusRow(focused.current);
    }
  }, [records]);
  useShortcuts({
    ArrowDown: { label: "Next record", act: () => focusRow((focused.current ?? -1) + 1) },
    ArrowUp: { label: "Previous record", act: () => focusRow((focused.current ?? 1) - 1) },
    Delete: {
      label: "Delete the record, with ten seconds to undo",
      act: () => {
        const record = records[focused.current ?? -1];
        if (record !== undefined && !deleted.has(record.id)) onDelete(record);
      },
    },
  });

  return (
    <table class="table record-table">
      <thead>
        <tr>
          {shown.map(({ id, label, isSortable }) => (
            <th key={id} scope="col" {...(isSortable && { "aria-sort": sortState(sort, id) })}>
              {isSortable ? (
                <button
                  type="button"
                  class="sort-button"
                  title="Sorts all records"
                  onClick={() => onSort(nextSort(sort, id))}
                >
                  {label}
                  {sort === id && <Icon name="sortAscending" />}
                  {sort === `-${id}` && <Icon name="sortDescending" />}
                </button>
              ) : (
                label
              )}
            </th>
          ))}
          <th scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody
        ref={body}
        onFocusIn={({ target }) => {
          const row = (target as HTMLElement).closest("tr");
          focused.current = row === null ? null : row.sectionRowIndex;
        }}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget !== null) focused.current = null;
        }}
      >
        {records.map((record) => {
          const isLeaving = deleted.has(record.id);
          return (
            <tr key={record.id} class={isLeaving ? "is-leaving" : ""}>
              {shown.map(({ id, label, has, show }) => (
                <td key={id} class={`record-${id}`} data-label={label}>
                  {(has === undefined || has(record)) && show(record, place)}
                </td>
              ))}
              <td class="record-actions">
                {isLeaving ? "Deleting…" : <RecordActions {...{ record, place, onDelete }} />}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface RecordActionsProps extends Pick<RecordTableProps, "place" | "onDelete"> {
  readonly record: DnsRecord;
}

function RecordActions({ record, place, onDelete }: RecordActionsProps) {
  const { go } = useNavigation();
  const { id, name, type } = record;
  return (
    <Menu
      label={`Actions of ${type} ${name}`}
      items={[
        { label: "Edit", icon: "edit", act: () => go({ ...place, record: id }) },
        { label: "Look up", icon: "search", act: () => go({ view: "lookup", name, type }) },
        { label: "Delete", icon: "delete", isDanger: true, act: () => onDelete(record) },
      ]}
    />
  );
}

function sortState(sort: RecordSort, column: string): "ascending" | "descending" | "none" {
  if (sort === column) return "ascending";
  return sort === `-${column}` ? "descending" : "none";
}
