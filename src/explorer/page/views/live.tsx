/**
 * What happens in the project, as it happens. The newest row is on top.
 *
 * Rows do not move while a person reads: while the pointer is on a row, a row has the focus, the list
 * is scrolled, details are open, or the list is paused. New entries are then counted in a button.
 */
import { useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/format.ts";
import { ActivityCharts } from "../live/activity-charts.tsx";
import { matchesFilter, parseFilter } from "../live/activity-filter.ts";
import { ActivityList, type Reading } from "../live/activity-list.tsx";
import { EntryDetails } from "../live/entry-details.tsx";
import { rowsMax, type EntryBuffer, type LiveRow } from "../live/entry-buffer.ts";
import { FilterBar } from "../live/filter-bar.tsx";
import { useActivity, type ConnectionState } from "../live/use-activity.ts";
import type { Place } from "../location.ts";
import { Icon } from "../frame/icon.tsx";
import { useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { useProject } from "../frame/sidebar.tsx";
import "../styles/live.css";

type LivePlace = Extract<Place, { view: "live" }>;

export function LiveView({ place }: { readonly place: LivePlace }) {
  const { go } = useNavigation();
  const { buffer, connection, meter, clear } = useActivity();
  const filterInput = useRef<HTMLInputElement>(null);
  const [isPaused, setPaused] = useState(false);
  const [open, setOpen] = useState<LiveRow | null>(null);
  const [activeSerial, setActiveSerial] = useState<number | null>(null);
  const [reading, setReading] = useState<Reading>(notReading);
  const [topRequest, setTopRequest] = useState(0);
  const held = useRef<EntryBuffer | null>(null);

  const isHeld =
    isPaused || open !== null || reading.isScrolled || reading.isPointed || reading.isFocused;
  if (!isHeld) held.current = null;
  else held.current ??= buffer;
  const shown = held.current ?? buffer;

  const filter = useMemo(() => parseFilter(place.filter), [place.filter]);
  const rows = useMemo(
    () => shown.rows.filter(({ entry }) => matchesFilter(filter, entry)).toReversed(),
    [shown, filter],
  );
  const newCount = useMemo(
    () =>
      buffer.rows.filter(
        ({ serial, entry }) => serial >= shown.nextSerial && matchesFilter(filter, entry),
      ).length,
    [buffer, shown, filter],
  );

  const showNew = (): void => {
    held.current = isHeld ? buffer : null;
    setActiveSerial(null);
    setReading(notReading);
    setTopRequest((before) => before + 1);
  };
  const clearAll = (): void => {
    held.current = null;
    setOpen(null);
    setActiveSerial(null);
    setReading(notReading);
    clear();
  };
  const move = (step: number): void => {
    const index = rows.findIndex(({ serial }) => serial === activeSerial);
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
    if (next === undefined) return;
    setActiveSerial(next.serial);
    if (open !== null) setOpen(next);
  };
  const leave = (): void => {
    if (document.activeElement === filterInput.current) filterInput.current?.blur();
    else if (open !== null) {
      setOpen(null);
      focusRow(open.serial);
    } else {
      setActiveSerial(null);
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    }
  };
  useShortcuts({
    "/": { label: "Filter", act: () => filterInput.current?.focus() },
    " ": { label: "Pause or continue", act: () => setPaused((before) => !before) },
    c: { label: "Clear the list", act: clearAll },
    ArrowDown: { label: "The next row", act: () => move(1) },
    ArrowUp: { label: "The row before", act: () => move(-1) },
    Enter: {
      label: "Open the row",
      act: () => setOpen(rows.find(({ serial }) => serial === activeSerial) ?? null),
    },
    Escape: { label: "Close the details, leave the rows", act: leave },
  });

  return (
    <div class="live">
      <PageHeader
        title="Live"
        counts={<ConnectionNote connection={connection} isPaused={isPaused} />}
      >
        <button
          type="button"
          class="button"
          aria-pressed={isPaused}
          onClick={() => setPaused(!isPaused)}
        >
          <Icon name={isPaused ? "play" : "pause"} />
          {isPaused ? "Continue" : "Pause"}
        </button>
        <button type="button" class="button" onClick={clearAll}>
          Clear
        </button>
      </PageHeader>
      <RequestsNote />
      <ActivityCharts meter={meter} />
      <FilterBar
        filter={place.filter}
        problem={filter.problem}
        inputRef={filterInput}
        onChange={(text) => go({ view: "live", filter: text }, true)}
      />
      <div class={open === null ? "live-body" : "live-body with-details"}>
        <div class="live-stream">
          {newCount > 0 && isHeld && (
            <button type="button" class="button primary live-new" onClick={showNew}>
              {newCount} new
            </button>
          )}
          {rows.length > 0 ? (
            <ActivityList
              rows={rows}
              activeSerial={activeSerial}
              openSerial={open?.serial ?? null}
              onActivate={setActiveSerial}
              onOpen={setOpen}
              onReading={(part) => setReading((before) => mergeReading(before, part))}
              topRequest={topRequest}
            />
          ) : (
            <NoRows hasEntries={shown.rows.length > 0} connection={connection} />
          )}
        </div>
        {open !== null && <EntryDetails entry={open.entry} onClose={leave} />}
      </div>
      <p class="live-foot">
        {counted(rows.length, "row")}
        {droppedText(buffer)}
      </p>
    </div>
  );
}

const notReading: Reading = { isScrolled: false, isPointed: false, isFocused: false };

/** The same object if nothing changes, so that nothing is rendered again. */
function mergeReading(before: Reading, part: Partial<Reading>): Reading {
  const merged = { ...before, ...part };
  const isSame = (Object.keys(merged) as (keyof Reading)[]).every(
    (name) => merged[name] === before[name],
  );
  return isSame ? before : merged;
}

function focusRow(serial: number): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-serial="${serial}"]`)?.focus(),
  );
}

function droppedText({ droppedByPage, droppedByServer }: EntryBuffer): string {
  const parts = [
    droppedByPage > 0 &&
      `this page keeps the newest ${rowsMax} entries and has dropped ${droppedByPage}`,
    droppedByServer > 0 &&
      `the server dropped ${droppedByServer} ${droppedByServer === 1 ? "entry" : "entries"} that this page had not read`,
  ].filter((part) => part !== false);
  return parts.map((part) => ` · ${part}`).join("");
}

interface ConnectionNoteProps {
  readonly connection: ConnectionState;
  readonly isPaused: boolean;
}

function ConnectionNote({ connection, isPaused }: ConnectionNoteProps) {
  return (
    <span class="live-connection" role="status">
      {connection === "lost" ? (
        <span class="badge bad">
          The explorer does not answer. This page tries again every second.
        </span>
      ) : isPaused ? (
        <span class="badge warning">Paused</span>
      ) : connection === "open" ? (
        <span class="badge good">Connected</span>
      ) : (
        <span class="badge">Connecting…</span>
      )}
    </span>
  );
}

function RequestsNote() {
  const project = useProject();
  if (project === null || project.hasRequests) return null;
  return (
    <p class="live-hint">
      Requests of a script appear here when <code>ledge dev</code> serves this page. Calls of other
      programs, DNS queries and API calls appear now.
    </p>
  );
}

function NoRows({
  hasEntries,
  connection,
}: {
  readonly hasEntries: boolean;
  readonly connection: ConnectionState;
}) {
  if (hasEntries) {
    return (
      <Empty title="No entry matches the filter">
        <p>Remove a word of the filter to see more.</p>
      </Empty>
    );
  }
  if (connection === "connecting") return <Loading what="the activity" />;
  return (
    <Empty title="Nothing has happened yet">
      <p>Send a request to the script, call a bucket, or ask the name server: it appears here.</p>
    </Empty>
  );
}
