/**
 * The rows of the live view, the newest first. Only the rows in sight are in the document. The list
 * does not know the stream: while a person reads, the view hands over the same rows again.
 */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { countedNoun, formatDuration } from "../frame/format.ts";
import { Link } from "../frame/navigation.tsx";
import { useRowWindow } from "../frame/row-window.ts";
import type { LiveRow } from "./activity.ts";
import {
  groupOf,
  kindName,
  noteOf,
  outcomeText,
  outcomeTone,
  placeOfCall,
  subjectOf,
  timeText,
} from "./entry-words.ts";

interface ActivityListProps {
  /** The newest row comes first. */
  readonly rows: readonly LiveRow[];
  /** The row that has or gets the focus. */
  readonly activeSerial: number | null;
  readonly openSerial: number | null;
  readonly onActivate: (serial: number) => void;
  readonly onOpen: (row: LiveRow) => void;
  /** Whether a person reads: the list is scrolled, pointed at, or has the focus. */
  readonly onReading: (isReading: boolean) => void;
  /** Changes when the list goes to the newest row. */
  readonly topRequest: number;
}

const columns = [
  ["live-time", "Time"],
  ["live-kind", "Kind"],
  ["live-method", "Method"],
  ["live-subject", "Subject"],
  ["live-source", "Source"],
  ["live-outcome", "Result"],
  ["live-duration", "Took"],
] as const;

export function ActivityList(props: ActivityListProps) {
  const { rows, activeSerial, openSerial, onActivate, onOpen, onReading, topRequest } = props;
  const list = useRef<HTMLDivElement>(null);
  const serials = useMemo(() => rows.map(({ serial }) => serial), [rows]);
  const { first, end, rowHeight, show } = useRowWindow(list, serials);
  useLayoutEffect(() => {
    if (list.current !== null) list.current.scrollTop = 0;
  }, [topRequest]);
  // A list that is shown again, because the filter matches again, takes no focus from the filter.
  const focusedSerial = useRef(activeSerial);
  useLayoutEffect(() => {
    if (focusedSerial.current === activeSerial) return;
    focusedSerial.current = activeSerial;
    const index = activeSerial === null ? -1 : serials.indexOf(activeSerial);
    if (index === -1) return;
    show(index);
    // The row is in the document after the next render.
    requestAnimationFrame(() => focusRow(activeSerial as number));
  }, [activeSerial]);
  const update = (): void => {
    const element = list.current;
    const isReading = element?.matches(":hover, :focus-within") === true;
    onReading(isReading || (element?.scrollTop ?? 0) > rowHeight / 2);
  };
  const shown = rows.slice(first, end);
  const hasActive = shown.some(({ serial }) => serial === activeSerial);
  return (
    <div
      class="live-list panel"
      role="grid"
      aria-label="Activity, the newest first"
      aria-rowcount={rows.length + 1}
      ref={list}
      onScroll={update}
      onPointerEnter={update}
      onPointerLeave={update}
      onFocusIn={update}
      onFocusOut={() => requestAnimationFrame(update)}
    >
      <div class="live-row live-head" role="row" aria-rowindex={1}>
        {columns.map(([name, label]) => (
          <span key={name} role="columnheader" class={name}>
            {label}
          </span>
        ))}
      </div>
      <div class="live-rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {shown.map((row, index) => (
          <div
            key={row.serial}
            class={`live-row${row.serial === openSerial ? " open" : ""}`}
            role="row"
            aria-rowindex={first + index + 2}
            aria-selected={row.serial === openSerial}
            tabIndex={(hasActive ? row.serial === activeSerial : index === 0) ? 0 : -1}
            data-serial={row.serial}
            style={{ transform: `translateY(${(first + index) * rowHeight}px)` }}
            onClick={(event) => {
              if ((event.target as Element).closest("a") !== null) return;
              onActivate(row.serial);
              onOpen(row);
            }}
          >
            <RowCells entry={row.entry} />
          </div>
        ))}
      </div>
    </div>
  );
}

export function focusRow(serial: number): void {
  document.querySelector<HTMLElement>(`[data-serial="${serial}"]`)?.focus({ preventScroll: true });
}

function RowCells({ entry }: Pick<LiveRow, "entry">) {
  const place = entry.kind === "request" ? null : placeOfCall(entry);
  const subject = subjectOf(entry);
  const note = noteOf(entry);
  const calls = entry.kind === "request" ? entry.calls.length : 0;
  return (
    <>
      <span class="live-time code" role="gridcell">
        {timeText(entry.at)}
      </span>
      <span role="gridcell" class={`live-kind kind-${groupOf(entry.kind)}`}>
        {kindName(entry.kind)}
      </span>
      <span role="gridcell" class="live-method code">
        {entry.method}
      </span>
      <span role="gridcell" class="live-subject code" title={subject}>
        {place === null ? (
          <bdi>{subject}</bdi>
        ) : (
          <Link to={place} tabIndex={-1}>
            <bdi>{subject}</bdi>
          </Link>
        )}
        {note !== null && <bdi class="live-row-note">{note}</bdi>}
      </span>
      <span role="gridcell" class="live-source">
        {entry.kind === "request" ? (
          `script${calls === 0 ? "" : `, ${countedNoun(calls, "call")}`}`
        ) : (
          <bdi>{entry.source}</bdi>
        )}
      </span>
      <span role="gridcell" class="live-outcome">
        <span class={`badge ${outcomeTone(entry)}`}>{outcomeText(entry)}</span>
      </span>
      <span role="gridcell" class="live-duration">
        {formatDuration(entry.milliseconds)}
      </span>
    </>
  );
}
