/**
 * The list of objects. Only the rows in sight are in the document. The list has the focus and names
 * its active row, because a row that has the focus itself would lose it when it is scrolled away.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { Task } from "../../api/tasks.ts";
import { shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Menu, type MenuItem } from "../frame/menu.tsx";
import { placeHref } from "../frame/navigation.tsx";
import { Time } from "../frame/parts.tsx";
import { useRowWindow } from "../frame/row-window.ts";
import { SortButton, sortState } from "../frame/table.tsx";
import { secondsLeft } from "../frame/task-words.ts";
import type { ObjectSort } from "../location.ts";
import type { ObjectList } from "./use-object-list.ts";
import {
  lastSegment,
  type deletionFinder,
  nextSort,
  rowIcon,
  rowType,
  type ObjectRow,
  type SortColumn,
} from "./object-rows.ts";

interface RowActions {
  readonly onOpen: (row: ObjectRow) => void;
  readonly onToggle: (row: ObjectRow) => void;
  readonly onExtend: (row: ObjectRow) => void;
  readonly menuOf: (row: ObjectRow) => readonly MenuItem[];
}

interface ObjectGridProps extends RowActions {
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly label: string;
  readonly list: ObjectList;
  readonly sort: ObjectSort;
  readonly openKey: string | null;
  readonly deletionOf: ReturnType<typeof deletionFinder>;
  readonly onSort: (sort: ObjectSort) => void;
  readonly onToggleAll: () => void;
}

const columns: readonly (readonly [string, label: string, SortColumn?])[] = [
  ["object-name", "Name", "key"],
  ["object-type", "Type"],
  ["object-size", "Size", "size"],
  ["object-time", "Modified", "uploaded"],
];

export function ObjectGrid(props: ObjectGridProps) {
  const { grid, label, list, sort, openKey, deletionOf, onSort, onToggleAll, ...actions } = props;
  const { rows, ids, selection, folder, listing, isWhole } = list;
  const { first, end, rowHeight, show } = useRowWindow(grid, ids);
  const active = selection.active === null ? -1 : ids.indexOf(selection.active);
  useLayoutEffect(() => {
    if (grid.current !== null) grid.current.scrollTop = 0;
  }, [grid, listing]);
  // When another row becomes active; not when rows come and go, which moves nothing.
  useLayoutEffect(() => {
    if (active !== -1) show(active);
  }, [selection.active, listing, show]);
  const isActiveShown = active >= first && active < end;
  const isAll = rows.length > 0 && selection.selected.size === rows.length;
  const selectAllLabel = isWhole ? "Select all rows" : "Select all rows of this page";
  return (
    <div
      ref={grid}
      class="object-grid panel"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-multiselectable="true"
      aria-busy={list.isLoading}
      {...(isActiveShown && { "aria-activedescendant": rowElementId(active) })}
    >
      <div role="rowgroup" class="object-header">
        <div role="row" class="object-row" aria-rowindex={1}>
          <span role="columnheader" class="object-check">
            <input
              type="checkbox"
              aria-label={selectAllLabel}
              title={selectAllLabel}
              checked={isAll}
              indeterminate={selection.selected.size > 0 && !isAll}
              onChange={onToggleAll}
              onClick={(event) => {
                // After a click of the mouse, the keys are for the list. The keyboard stays here.
                if (event.detail > 0) grid.current?.focus({ preventScroll: true });
              }}
            />
          </span>
          {columns.map(([className, name, column]) =>
            column === undefined ? (
              <span key={name} role="columnheader" class={className}>
                {name}
              </span>
            ) : (
              <span
                key={name}
                role="columnheader"
                class={className}
                aria-sort={sortState(sort, column)}
              >
                <SortButton
                  label={name}
                  state={sortState(sort, column)}
                  title={isWhole ? undefined : "Sorts the rows of this page"}
                  onClick={() => onSort(nextSort(sort, column))}
                />
              </span>
            ),
          )}
          <span role="columnheader" class="object-menu">
            <span class="visually-hidden">Actions</span>
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
            href={placeHref(list.placeOf(row))}
            isSelected={selection.selected.has(row.id)}
            isActive={first + offset === active}
            isOpen={row.object !== null && row.path === openKey}
            deletion={deletionOf(row.path, row.object === null)}
            {...actions}
          />
        ))}
      </div>
    </div>
  );
}

function rowElementId(index: number): string {
  return `object-row-${index}`;
}

interface ObjectRowProps extends RowActions {
  readonly row: ObjectRow;
  readonly index: number;
  readonly top: number;
  readonly name: string;
  readonly href: string;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly deletion: Task | undefined;
}

/** A row that has not changed is not rendered again: a scroll changes few of the rows in sight. */
function ObjectRowLine(props: ObjectRowProps) {
  return useMemo(() => renderRow(props), Object.values(props));
}

function renderRow(props: ObjectRowProps) {
  const { row, index, top, name, href, isSelected, isActive, isOpen, deletion } = props;
  const classes = ["object-row"];
  if (isActive) classes.push("active");
  if (isOpen) classes.push("open");
  if (deletion !== undefined) classes.push("deleted");
  return (
    <div
      role="row"
      id={rowElementId(index)}
      class={classes.join(" ")}
      // The header is the first row.
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)` }}
      onMouseDown={(event) => {
        // The browser would select the text between two clicks.
        if (event.shiftKey) event.preventDefault();
      }}
      onClick={(event) => clickRow(event, props)}
    >
      <span
        role="gridcell"
        class="object-check"
        onClick={(event) => {
          event.stopPropagation();
          if (event.shiftKey) props.onExtend(row);
          else props.onToggle(row);
        }}
      >
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={`Select ${shownKey(lastSegment(row.path))}`}
        />
      </span>
      <span role="rowheader" class="object-name">
        <Icon name={rowIcon(row)} />
        <a href={href} tabIndex={-1} title={shownKey(row.path)}>
          {name === "" ? <i>(no name)</i> : <bdi>{shownKey(name)}</bdi>}
        </a>
        {row.object?.storageClass === "InfrequentAccess" && <span class="badge">infrequent</span>}
        {deletion !== undefined && <DeletionBadge deletion={deletion} />}
      </span>
      <span role="gridcell" class="object-type">
        {rowType(row)}
      </span>
      <span role="gridcell" class="object-size">
        {row.object && formatBytes(row.object.size)}
      </span>
      <span role="gridcell" class="object-time">
        {row.object && <Time at={row.object.uploaded} />}
      </span>
      <span role="gridcell" class="object-menu" onClick={(event) => event.stopPropagation()}>
        <Menu
          label={`Actions of ${shownKey(lastSegment(row.path))}`}
          items={() => props.menuOf(row)}
          tabIndex={-1}
        />
      </span>
    </div>
  );
}

function clickRow(event: MouseEvent, { row, onOpen, onToggle, onExtend }: ObjectRowProps): void {
  const isLink = event.target instanceof Element && event.target.closest("a") !== null;
  if (event.ctrlKey || event.metaKey) {
    // The browser opens a link in another tab.
    if (!isLink) onToggle(row);
    return;
  }
  event.preventDefault();
  if (event.shiftKey) {
    onExtend(row);
    return;
  }
  const isSelectingText = getSelection()?.isCollapsed === false;
  if (isLink || !isSelectingText) onOpen(row);
}

function DeletionBadge({ deletion }: { readonly deletion: Task }) {
  const seconds = secondsLeft(deletion, Date.now());
  return (
    <span class="badge bad">
      {deletion.state === "waiting" && seconds > 0 ? `deleted in ${seconds} s` : "being deleted"}
    </span>
  );
}
