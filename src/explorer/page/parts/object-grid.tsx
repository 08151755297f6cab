/**
 * The list of objects. Only the rows in sight are in the document. The list has the focus and names
 * its active row, because a row that has the focus itself would lose it when it is scrolled away.
 */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import type { Task } from "../../api/tasks.ts";
import { placeHref } from "../frame/navigation.tsx";
import type { ObjectSort, Place } from "../location.ts";
import { nextSort, parseSort, type ObjectRow, type SortColumn } from "../objects/object-rows.ts";
import type { RowSelection } from "../objects/row-selection.ts";
import { useRowWindow } from "../frame/row-window.ts";
import { ObjectRowLine, rowElementId, type RowActions } from "./object-row.tsx";

interface ObjectGridProps extends RowActions {
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly label: string;
  /** The folder, which the names of the rows leave out. */
  readonly folder: string;
  /** Changes when other rows are listed: the list then begins at its first row. */
  readonly listing: string;
  readonly rows: readonly ObjectRow[];
  readonly selection: RowSelection;
  readonly sort: ObjectSort;
  readonly openKey: string | null;
  readonly isBusy: boolean;
  readonly placeOf: (row: ObjectRow) => Place;
  readonly deletionOf: (row: ObjectRow) => Task | undefined;
  readonly onSort: (sort: ObjectSort) => void;
  readonly onToggleAll: () => void;
}

export function ObjectGrid(props: ObjectGridProps) {
  const { grid, label, folder, listing, rows, selection, sort, openKey, isBusy } = props;
  const { first, end, rowHeight, show } = useRowWindow(
    grid,
    useMemo(() => rows.map(({ id }) => id), [rows]),
  );
  const active = rows.findIndex(({ id }) => id === selection.active);
  useLayoutEffect(() => {
    if (grid.current !== null) grid.current.scrollTop = 0;
  }, [grid, listing]);
  useLayoutEffect(() => {
    if (active !== -1) show(active);
  }, [active, listing, show]);
  const isActiveShown = active >= first && active < end;
  return (
    <div
      ref={grid}
      class="object-grid panel"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-multiselectable="true"
      aria-busy={isBusy}
      {...(isActiveShown && { "aria-activedescendant": rowElementId(active) })}
    >
      <div role="rowgroup" class="object-header">
        <div role="row" class="object-row" aria-rowindex={1}>
          <span role="columnheader" class="object-check">
            <SelectAll
              isAll={rows.length > 0 && selection.selected.size === rows.length}
              isSome={selection.selected.size > 0}
              onToggle={props.onToggleAll}
              onLeave={() => grid.current?.focus({ preventScroll: true })}
            />
          </span>
          <SortHeader
            column="key"
            label="Name"
            class="object-name"
            sort={sort}
            onSort={props.onSort}
          />
          <SortHeader
            column="size"
            label="Size"
            class="object-size"
            sort={sort}
            onSort={props.onSort}
          />
          <span role="columnheader" class="object-class">
            Class
          </span>
          <SortHeader
            column="uploaded"
            label="Modified"
            class="object-time"
            sort={sort}
            onSort={props.onSort}
          />
          <span role="columnheader" class="object-etag">
            ETag
          </span>
        </div>
      </div>
      <div role="rowgroup" class="object-body" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, end).map((row, offset) => (
          <ObjectRowLine
            key={row.id}
            row={row}
            index={first + offset}
            top={(first + offset) * rowHeight}
            name={row.path.slice(folder.length)}
            url={placeHref(props.placeOf(row))}
            isSelected={selection.selected.has(row.id)}
            isActive={first + offset === active}
            isOpen={row.kind === "object" && row.path === openKey}
            deletion={props.deletionOf(row)}
            onOpen={props.onOpen}
            onToggle={props.onToggle}
            onExtend={props.onExtend}
          />
        ))}
      </div>
    </div>
  );
}

interface SortHeaderProps {
  readonly column: SortColumn;
  readonly label: string;
  readonly class: string;
  readonly sort: ObjectSort;
  readonly onSort: (sort: ObjectSort) => void;
}

function SortHeader({ column, label, class: className, sort, onSort }: SortHeaderProps) {
  const current = parseSort(sort);
  const isSorted = current.column === column;
  const direction = current.isDescending ? "descending" : "ascending";
  return (
    <span role="columnheader" class={className} aria-sort={isSorted ? direction : "none"}>
      <button type="button" class="sort-button" onClick={() => onSort(nextSort(sort, column))}>
        {label}
        {isSorted && <span aria-hidden="true">{current.isDescending ? "↓" : "↑"}</span>}
      </button>
    </span>
  );
}

interface SelectAllProps {
  readonly isAll: boolean;
  readonly isSome: boolean;
  readonly onToggle: () => void;
  /** The person goes on with the list. */
  readonly onLeave: () => void;
}

function SelectAll({ isAll, isSome, onToggle, onLeave }: SelectAllProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = isSome && !isAll;
  }, [isAll, isSome]);
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label="Select all of this page"
      checked={isAll}
      onChange={onToggle}
      onClick={(event) => {
        // After a click of the mouse, the keys are for the list. The keyboard stays where it is.
        if (event.detail > 0) onLeave();
      }}
    />
  );
}
