/**
 * The rows of the live view, the newest first. Only the rows in sight are in the document. The list
 * does not know the stream: while a person reads, the view hands over the same rows again.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { countedNoun, formatDuration } from "../frame/format.ts";
import { useRowWindow } from "../frame/row-window.ts";
import type { LiveRow } from "./activity.ts";
import { CallLink, Kind, Outcome } from "./entry-details.tsx";
import { noteOf, subjectOf, timeText } from "./entry-words.ts";

interface ActivityListProps {
  readonly list: RefObject<HTMLDivElement | null>;
  /** The newest row comes first. */
  readonly rows: readonly LiveRow[];
  /** The row that has or gets the focus. */
  readonly active: LiveRow | null;
  /** Whether the active row has its details open. */
  readonly isOpen: boolean;
  readonly onOpen: (row: LiveRow) => void;
  /** Whether a person reads: the list is scrolled, pointed at, or has the focus. */
  readonly onReading: (isReading: boolean) => void;
}

/** With the classes of the cells. */
const columns: readonly (readonly [label: string, name: string, text?: string])[] = [
  ["Time", "live-time", "code"],
  ["Kind", "live-kind"],
  ["Method", "live-method", "code"],
  ["Subject", "live-subject", "code"],
  ["Source", "live-source"],
  ["Result", "live-outcome"],
  ["Took", "live-duration"],
];

export function ActivityList(props: ActivityListProps) {
  const { list, rows, active, isOpen, onOpen, onReading } = props;
  const serials = useMemo(() => rows.map(({ serial }) => serial), [rows]);
  const { first, end, rowHeight, show } = useRowWindow(list, serials);
  // A list that is shown again, because the filter matches again, takes no focus from the filter.
  const focused = useRef(active);
  useLayoutEffect(() => {
    if (focused.current === active) return;
    focused.current = active;
    const index = active === null ? -1 : serials.indexOf(active.serial);
    if (active === null || index === -1) return;
    show(index);
    // The row is in the document after the next render.
    requestAnimationFrame(() => focusRow(active));
  }, [active]);
  const update = (): void => {
    const isReading = list.current?.matches(":hover, :focus-within") === true;
    onReading(isReading || (list.current?.scrollTop ?? 0) > rowHeight / 2);
  };
  const shown = rows.slice(first, end);
  const tabRow = shown.find(({ serial }) => serial === active?.serial) ?? shown[0];
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
        {columns.map(([label, name]) => (
          <span key={name} role="columnheader" class={name}>
            {label}
          </span>
        ))}
      </div>
      <div class="live-rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {shown.map((row, index) => {
          const isSelected = isOpen && row.serial === active?.serial;
          return (
            <div
              key={row.serial}
              class={isSelected ? "live-row open" : "live-row"}
              role="row"
              aria-rowindex={first + index + 2}
              aria-selected={isSelected}
              tabIndex={row === tabRow ? 0 : -1}
              data-serial={row.serial}
              style={{ transform: `translateY(${(first + index) * rowHeight}px)` }}
              onClick={(event) => {
                if ((event.target as Element).closest("a") === null) onOpen(row);
              }}
            >
              {cellsOf(row).map((content, column) => (
                <span key={column} role="gridcell" class={columns[column]?.slice(1).join(" ")}>
                  {content}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function focusRow({ serial }: LiveRow): void {
  document.querySelector<HTMLElement>(`[data-serial="${serial}"]`)?.focus({ preventScroll: true });
}

function cellsOf({ entry }: LiveRow) {
  const subject = subjectOf(entry);
  const note = noteOf(entry);
  const isRequest = entry.kind === "request";
  const calls = isRequest ? entry.calls.length : 0;
  return [
    timeText(entry.at),
    <Kind kind={entry.kind} />,
    entry.method,
    <span title={subject}>
      {isRequest ? <bdi>{subject}</bdi> : <CallLink call={entry} text={subject} tabIndex={-1} />}
      {note !== null && <bdi class="live-row-note">{note}</bdi>}
    </span>,
    isRequest ? (
      `script${calls === 0 ? "" : `, ${countedNoun(calls, "call")}`}`
    ) : (
      <bdi>{entry.source}</bdi>
    ),
    <Outcome entry={entry} />,
    formatDuration(entry.milliseconds),
  ];
}
