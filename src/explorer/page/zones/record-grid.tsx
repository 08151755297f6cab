/**
 * The table of records. One cell has the focus, and the arrow keys move it; Enter edits the cell, and
 * Delete deletes the record of its row.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { DnsRecord } from "../../api/zones-api.ts";
import type { RecordSort } from "../location.ts";
import { Link } from "../parts/link.tsx";
import { useShortcuts } from "../parts/shortcuts.tsx";
import { EditableCell } from "./editable-cell.tsx";
import { ProxiedCell } from "./proxied-cell.tsx";
import {
  cellEditing,
  cellText,
  nextSort,
  recordColumns,
  splitName,
  type RecordColumn,
} from "./record-cells.ts";

interface RecordGridProps {
  readonly zone: { readonly id: string; readonly name: string };
  readonly records: readonly DnsRecord[];
  readonly sort: RecordSort;
  readonly isLoading: boolean;
  readonly onSort: (sort: RecordSort) => void;
  readonly onChanged: (record: DnsRecord) => void;
  readonly onEdit: (record: DnsRecord) => void;
  readonly onDelete: (record: DnsRecord) => void;
}

const actionsColumn = recordColumns.length;

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -actionsColumn],
  End: [0, actionsColumn],
};

export function RecordGrid(props: RecordGridProps) {
  const { zone, records, sort, isLoading, onSort, onChanged, onEdit, onDelete } = props;
  const table = useRef<HTMLTableElement>(null);
  const [active, setActive] = useState<readonly [number, number]>([0, 1]);
  const row = Math.min(active[0], Math.max(0, records.length - 1));
  const column = active[1];

  const focusCell = (nextRow: number, nextColumn: number): void => {
    const targetRow = Math.min(Math.max(nextRow, 0), records.length - 1);
    const step = nextColumn < column ? -1 : 1;
    // A narrow table hides empty cells: the next cell that is shown gets the focus.
    for (let each = Math.min(Math.max(nextColumn, 0), actionsColumn); ; each += step) {
      if (each < 0 || each > actionsColumn) return;
      const cell = table.current?.querySelector<HTMLElement>(`[data-cell="${targetRow},${each}"]`);
      if (!cell || cell.offsetParent === null) continue;
      setActive([targetRow, each]);
      cell.focus();
      return;
    }
  };
  const hasFocus = (): boolean => table.current?.contains(document.activeElement) === true;
  const deleteActive = (): void => {
    const record = records[row];
    if (record === undefined || !hasFocus()) return;
    onDelete(record);
    shouldRestore.current = true;
  };
  // The focused row goes: the row that takes its place gets the focus.
  const shouldRestore = useRef(false);
  useEffect(() => {
    if (!shouldRestore.current) return;
    shouldRestore.current = false;
    if (records.length > 0) focusCell(row, column);
  }, [records]);
  const enter = (step: number): void => {
    focusCell(hasFocus() ? row + step : row, column);
  };
  useShortcuts({
    ArrowDown: { label: "Next record; Enter edits the cell", act: () => enter(1) },
    ArrowUp: { label: "Previous record", act: () => enter(-1) },
    Delete: { label: "Delete the record, with ten seconds to undo", act: deleteActive },
  });

  const cellOf = (rowIndex: number, columnIndex: number) => ({
    role: "gridcell" as const,
    "data-cell": `${rowIndex},${columnIndex}`,
    "data-label": recordColumns[columnIndex]?.label ?? "",
    tabIndex: rowIndex === row && columnIndex === column ? 0 : -1,
    onFocus: () => setActive([rowIndex, columnIndex]),
  });

  return (
    <table
      class="table record-grid"
      role="grid"
      ref={table}
      aria-label={`Records of ${zone.name}`}
      aria-busy={isLoading}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (!(event.target as HTMLElement).matches("td")) return;
        const step = steps[event.key];
        if (step === undefined) return;
        event.preventDefault();
        focusCell(row + step[0], column + step[1]);
      }}
    >
      <thead>
        <tr role="row">
          {recordColumns.map(({ column: each, label, isSortable }) => (
            <th
              key={each}
              role="columnheader"
              scope="col"
              class={each}
              {...(isSortable && { "aria-sort": sortState(sort, each) })}
            >
              {isSortable ? (
                <button
                  type="button"
                  class="sort-button"
                  onClick={() => onSort(nextSort(sort, each))}
                >
                  {label}
                  <span aria-hidden="true">
                    {sort === each ? " ↑" : sort === `-${each}` ? " ↓" : ""}
                  </span>
                </button>
              ) : (
                label
              )}
            </th>
          ))}
          <th role="columnheader" scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {records.map((record, rowIndex) => (
          <tr key={record.id} role="row" aria-selected={rowIndex === row}>
            {recordColumns.map(({ column: each, label }, columnIndex) => {
              const cell = cellOf(rowIndex, columnIndex);
              const common = { zoneId: zone.id, record, column: each, label, cell, onChanged };
              if (each === "proxied") return <ProxiedCell key={each} {...common} />;
              const editing = cellEditing(record, each);
              const shown = <CellText record={record} column={each} zone={zone.name} />;
              if (editing === "text") {
                return (
                  <EditableCell key={each} {...common}>
                    {shown}
                  </EditableCell>
                );
              }
              return (
                <td
                  key={each}
                  {...cell}
                  class={cellClass(record, each, editing === "form")}
                  {...(editing === "form" && {
                    onClick: () => onEdit(record),
                    onKeyDown: (event: KeyboardEvent) => {
                      if (event.key !== "Enter" && event.key !== "F2") return;
                      event.preventDefault();
                      onEdit(record);
                    },
                  })}
                >
                  {shown}
                </td>
              );
            })}
            <td {...cellOf(rowIndex, actionsColumn)} class="record-cell actions">
              <RowActions
                record={record}
                isActive={rowIndex === row}
                onEdit={() => onEdit(record)}
                onDelete={() => onDelete(record)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function cellClass(record: DnsRecord, column: RecordColumn, isEditable: boolean): string {
  const isEmpty = cellText(record, column) === "";
  return `record-cell ${column}${isEditable ? " editable" : ""}${isEmpty ? " empty" : ""}`;
}

function sortState(sort: RecordSort, column: string): "ascending" | "descending" | "none" {
  if (sort === column) return "ascending";
  return sort === `-${column}` ? "descending" : "none";
}

function CellText({
  record,
  column,
  zone,
}: {
  readonly record: DnsRecord;
  readonly column: RecordColumn;
  readonly zone: string;
}) {
  switch (column) {
    case "type":
      return <span class="badge">{record.type}</span>;
    case "name": {
      const [own, rest] = splitName(record.name, zone);
      return (
        <bdi class="code">
          {own}
          <span class="zones-hint">{rest}</span>
        </bdi>
      );
    }
    case "content":
      return <bdi class="code record-content">{record.content}</bdi>;
    case "tags":
      return record.tags.length === 0 ? (
        <Nothing />
      ) : (
        <span class="record-tags">
          {record.tags.map((tag) => (
            <bdi key={tag} class="badge">
              {tag}
            </bdi>
          ))}
        </span>
      );
    case "ttl":
      return <span class="code">{cellText(record, "ttl")}</span>;
    case "priority":
    case "proxied":
    case "comment": {
      const text = cellText(record, column);
      return text === "" ? <Nothing /> : <bdi>{text}</bdi>;
    }
  }
}

function Nothing() {
  return <span class="zones-hint">–</span>;
}

/** Only the actions of the active row are in the order of the Tab key: a page has 100 rows. */
function RowActions({
  record,
  isActive,
  onEdit,
  onDelete,
}: {
  readonly record: DnsRecord;
  readonly isActive: boolean;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}) {
  const tabIndex = isActive ? 0 : -1;
  const subject = `${record.type} ${record.name}`;
  return (
    <div class="record-actions">
      <Link
        to={{ view: "lookup", name: record.name, type: record.type }}
        class="button quiet"
        tabIndex={tabIndex}
      >
        Ask<span class="visually-hidden"> for {subject}</span>
      </Link>
      <button type="button" class="button quiet" tabIndex={tabIndex} onClick={onEdit}>
        Edit<span class="visually-hidden"> {subject}</span>
      </button>
      <button type="button" class="button quiet" tabIndex={tabIndex} onClick={onDelete}>
        Delete<span class="visually-hidden"> {subject}</span>
      </button>
    </div>
  );
}
