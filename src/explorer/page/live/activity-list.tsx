/**
 * The rows of the live view, the newest first. Only the rows in sight are in the document. The list
 * does not know the stream: while a person reads, the view hands over the same rows again.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/format.ts";
import { Link } from "../parts/link.tsx";
import { placeOfCall } from "./entry-place.ts";
import type { LiveRow } from "./entry-buffer.ts";
import {
  durationText,
  kindLabels,
  outcomeText,
  outcomeTone,
  subjectOf,
  timeText,
} from "./entry-words.ts";
import { rowWindow, scrollToRow } from "./row-window.ts";

/** What a person does in the list, while which the rows stay where they are. */
export interface Reading {
  readonly isScrolled: boolean;
  readonly isPointed: boolean;
  readonly isFocused: boolean;
}

interface ActivityListProps {
  /** The newest row comes first. */
  readonly rows: readonly LiveRow[];
  /** The row that has or gets the focus. */
  readonly activeSerial: number | null;
  readonly openSerial: number | null;
  readonly onActivate: (serial: number) => void;
  readonly onOpen: (row: LiveRow) => void;
  readonly onReading: (reading: Partial<Reading>) => void;
  /** Changes when the list goes to the newest row. */
  readonly topRequest: number;
}

/** As in the style sheet. */
const rowHeight = 36;
const headHeight = 28;

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
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const { first, end } = rowWindow(scroll, { count: rows.length, height: rowHeight });
  const measure = (): void => {
    const element = list.current;
    if (element === null) return;
    const { scrollTop: top } = element;
    const height = element.clientHeight - headHeight;
    setScroll((before) =>
      before.top === top && before.height === height ? before : { top, height },
    );
    onReading({ isScrolled: top > rowHeight / 2 });
  };
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    if (list.current !== null) observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (list.current !== null) list.current.scrollTop = 0;
  }, [topRequest]);
  // Fewer rows than before may end above the scroll position.
  useLayoutEffect(measure, [rows.length]);
  // A list that is shown again, because the filter matches again, takes no focus from the filter.
  const focusedSerial = useRef(activeSerial);
  useLayoutEffect(() => {
    if (focusedSerial.current === activeSerial) return;
    focusedSerial.current = activeSerial;
    const element = list.current;
    const index = rows.findIndex(({ serial }) => serial === activeSerial);
    if (element === null || index === -1) return;
    element.scrollTop = scrollToRow(index, rowHeight, {
      top: element.scrollTop,
      height: element.clientHeight - headHeight,
    });
    measure();
    // The row is in the document after the next render.
    requestAnimationFrame(() =>
      element
        .querySelector<HTMLElement>(`[data-serial="${activeSerial}"]`)
        ?.focus({ preventScroll: true }),
    );
  }, [activeSerial]);
  const hasActive = rows.slice(first, end).some(({ serial }) => serial === activeSerial);
  return (
    <div
      class="live-list panel"
      role="grid"
      aria-label="Activity, the newest first"
      aria-rowcount={rows.length + 1}
      ref={list}
      onScroll={measure}
      onPointerOver={(event) => {
        if (event.pointerType === "mouse") onReading({ isPointed: true });
      }}
      onPointerLeave={() => onReading({ isPointed: false })}
      onFocusIn={() => onReading({ isFocused: true })}
      onFocusOut={() => onReading({ isFocused: false })}
    >
      <div class="live-row live-head" role="row" aria-rowindex={1}>
        {columns.map(([name, label]) => (
          <span key={name} role="columnheader" class={name}>
            {label}
          </span>
        ))}
      </div>
      <div class="live-rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, end).map((row, index) => (
          <ActivityRow
            key={row.serial}
            row={row}
            index={first + index}
            isOpen={row.serial === openSerial}
            isReachable={hasActive ? row.serial === activeSerial : index === 0}
            onActivate={onActivate}
            onOpen={onOpen}
          />
        ))}
      </div>
    </div>
  );
}

interface ActivityRowProps extends Pick<ActivityListProps, "onActivate" | "onOpen"> {
  readonly row: LiveRow;
  readonly index: number;
  readonly isOpen: boolean;
  readonly isReachable: boolean;
}

function ActivityRow({ row, index, isOpen, isReachable, onActivate, onOpen }: ActivityRowProps) {
  const { entry, serial } = row;
  const place = entry.kind === "request" ? null : placeOfCall(entry);
  const subject = subjectOf(entry);
  return (
    <div
      class={`live-row${isOpen ? " open" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      tabIndex={isReachable ? 0 : -1}
      data-serial={serial}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
      onClick={(event) => {
        if ((event.target as Element).closest("a") !== null) return;
        onActivate(serial);
        onOpen(row);
      }}
    >
      <span class="live-time code" role="gridcell">
        {timeText(entry.at)}
      </span>
      <span role="gridcell" class={`live-kind kind-${entry.kind}`}>
        {kindLabels[entry.kind].one}
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
        {entry.note !== null && <bdi class="live-row-note">{entry.note}</bdi>}
      </span>
      <span role="gridcell" class="live-source">
        {entry.kind === "request" ? (
          ["script", ...(entry.calls.length > 0 ? [counted(entry.calls.length, "call")] : [])].join(
            ", ",
          )
        ) : (
          <bdi>{entry.source}</bdi>
        )}
      </span>
      <span role="gridcell" class="live-outcome">
        <span class={`badge ${outcomeTone(entry)}`}>{outcomeText(entry)}</span>
      </span>
      <span role="gridcell" class="live-duration">
        {durationText(entry.milliseconds)}
      </span>
    </div>
  );
}
