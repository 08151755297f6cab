/**
 * A table of things, such as buckets or records. The arrow keys move from row to row, by the first link
 * or button of each row. When the row that has the focus goes away, the row at its place gets the focus.
 */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { useShortcuts, type Shortcuts } from "./shortcuts.tsx";

export interface Column<Row> {
  readonly label: string;
  readonly class?: string;
  /** Whether the label is for screen readers only. */
  readonly isLabelHidden?: true;
  /** Whether the column names the row. */
  readonly isRowHeader?: true;
  /** The name of the order by this column, if there is one. */
  readonly sort?: string;
  readonly show: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** What a row is: "bucket". */
  readonly noun: string;
  readonly label?: string;
  readonly class?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly rowClass?: (row: Row) => string;
  /** The order of the rows, with a minus sign if it is descending. */
  readonly sort?: string;
  readonly sortTitle?: string;
  /** Is called with the name of the order of a column. */
  readonly onSort?: (column: string) => void;
  /** Keys for the row that has the focus. */
  readonly keys?: Readonly<Record<string, { label: string; act: (row: Row) => void }>>;
}

export function Table<Row>(props: TableProps<Row>) {
  const { noun, label, columns, rows, idOf, rowClass, sort = "", sortTitle, onSort, keys } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useRef<number | null>(null);
  const focusRow = (index: number): void => {
    const { rows: lines } = body.current as HTMLTableSectionElement;
    const line = lines[Math.max(0, Math.min(index, lines.length - 1))];
    line?.querySelector<HTMLElement>("a, button")?.focus();
  };
  useLayoutEffect(() => {
    const isLost = focused.current !== null && document.activeElement === document.body;
    if (isLost) focusRow(focused.current as number);
  }, [rows]);
  const shortcuts: Shortcuts = {
    ArrowDown: { label: `Next ${noun}`, act: () => focusRow((focused.current ?? -1) + 1) },
    ArrowUp: { label: `Previous ${noun}`, act: () => focusRow((focused.current ?? 1) - 1) },
  };
  const ofRow = Object.entries(keys ?? {}).map(([key, { label: text, act }]) => {
    const actOnRow = (): void => {
      const row = rows[focused.current ?? -1];
      if (row !== undefined) act(row);
    };
    return [key, { label: text, act: actOnRow }] as const;
  });
  useShortcuts({ ...shortcuts, ...Object.fromEntries(ofRow) });
  return (
    <table
      class={`table ${props.class ?? ""}`}
      {...(label !== undefined && { "aria-label": label })}
    >
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.label}
              scope="col"
              class={column.class ?? ""}
              {...(column.sort !== undefined && { "aria-sort": sortState(sort, column.sort) })}
            >
              {column.sort !== undefined ? (
                <SortButton
                  label={column.label}
                  state={sortState(sort, column.sort)}
                  title={sortTitle}
                  onClick={() => onSort?.(column.sort as string)}
                />
              ) : (
                <span class={column.isLabelHidden ? "visually-hidden" : ""}>{column.label}</span>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody
        ref={body}
        onFocusIn={({ target }) => {
          focused.current = (target as HTMLElement).closest("tr")?.sectionRowIndex ?? null;
        }}
        onFocusOut={({ relatedTarget }) => {
          if (relatedTarget !== null) focused.current = null;
        }}
      >
        {rows.map((row) => (
          <tr key={idOf(row)} class={rowClass?.(row) ?? ""}>
            {columns.map(({ label: name, class: className = "", isRowHeader, show }) =>
              isRowHeader ? (
                <th key={name} scope="row" class={className}>
                  {show(row)}
                </th>
              ) : (
                <td key={name} class={className} data-label={name}>
                  {show(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type SortState = "ascending" | "descending" | "none";

export function sortState(sort: string, column: string): SortState {
  if (sort === column) return "ascending";
  return sort === `-${column}` ? "descending" : "none";
}

interface SortButtonProps {
  readonly label: string;
  readonly state: SortState;
  readonly title?: string | undefined;
  readonly onClick: () => void;
}

export function SortButton({ label, state, title, onClick }: SortButtonProps) {
  return (
    <button
      type="button"
      class="sort-button"
      {...(title !== undefined && { title })}
      onClick={onClick}
    >
      {label}
      {state === "ascending" && <Icon name="sortAscending" />}
      {state === "descending" && <Icon name="sortDescending" />}
    </button>
  );
}
