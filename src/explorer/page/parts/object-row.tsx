/** One row of the list of objects: a folder or an object. */
import { useMemo } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { Task } from "../../api/tasks.ts";
import { lastSegment } from "../objects/folder-path.ts";
import type { ObjectRow } from "../objects/object-rows.ts";
import { secondsLeft } from "../frame/task-words.ts";
import { LocalTime } from "./local-time.tsx";

export interface RowActions {
  readonly onOpen: (row: ObjectRow) => void;
  readonly onToggle: (row: ObjectRow) => void;
  readonly onExtend: (row: ObjectRow) => void;
}

interface ObjectRowProps extends RowActions {
  readonly row: ObjectRow;
  readonly index: number;
  /** The distance from the first row, in pixels. */
  readonly top: number;
  readonly name: string;
  readonly url: string;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly deletion: Task | undefined;
}

/** The id in the document, which the list names as its active row. */
export function rowElementId(index: number): string {
  return `object-row-${index}`;
}

/** A row that has not changed is not rendered again: a scroll changes few of the rows in sight. */
export function ObjectRowLine(props: ObjectRowProps) {
  return useMemo(() => renderRow(props), Object.values(props));
}

function renderRow(props: ObjectRowProps) {
  const { row, index, top, name, url, isSelected, isActive, isOpen, deletion } = props;
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
          aria-label={`Select ${lastSegment(row.path)}`}
        />
      </span>
      <span role="rowheader" class="object-name">
        <span class={`object-icon ${row.kind}`} aria-hidden="true" />
        <a href={url} tabIndex={-1} title={row.path}>
          {name === "" ? <i>(no name)</i> : <bdi>{name}</bdi>}
        </a>
        {deletion !== undefined && <DeletionBadge deletion={deletion} />}
      </span>
      {row.kind === "folder" ? (
        <>
          <span role="gridcell" class="object-size">
            <span class="visually-hidden">folder</span>
          </span>
          <span role="gridcell" class="object-class" />
          <span role="gridcell" class="object-time" />
          <span role="gridcell" class="object-etag" />
        </>
      ) : (
        <>
          <span role="gridcell" class="object-size" title={`${row.object.size} bytes`}>
            {formatBytes(row.object.size)}
          </span>
          <span role="gridcell" class="object-class">
            {row.object.storageClass === "Standard" ? "Standard" : "Infrequent"}
          </span>
          <span role="gridcell" class="object-time">
            <LocalTime at={row.object.uploaded} />
          </span>
          <span role="gridcell" class="object-etag code" title={row.object.etag}>
            {row.object.etag}
          </span>
        </>
      )}
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
