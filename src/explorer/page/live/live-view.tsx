/**
 * What happens in the project, as it happens. The newest row is on top.
 *
 * Rows do not move while a person reads: while the pointer is on a row, a row has the focus, the list
 * is scrolled, details are open, or the list is paused. New entries are then counted in a button.
 */
import type { Ref } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { useProject } from "../frame/sidebar.tsx";
import type { Place } from "../location.ts";
import { hasWord, parseFilter, toggleWord } from "./activity-filter.ts";
import { ActivityList, focusRow } from "./activity-list.tsx";
import {
  meterSeconds,
  rowsMax,
  useActivity,
  type ActivityMeter,
  type ConnectionState,
  type EntryBuffer,
  type LiveRow,
} from "./activity.ts";
import { EntryDetails } from "./entry-details.tsx";
import { groupLabels, groups } from "./entry-words.ts";

type LivePlace = Extract<Place, { view: "live" }>;

export function LiveView({ place }: { readonly place: LivePlace }) {
  const { go } = useNavigation();
  const { buffer, connection, meter, clear } = useActivity();
  const filterInput = useRef<HTMLInputElement>(null);
  const [isPaused, setPaused] = useState(false);
  const [open, setOpen] = useState<LiveRow | null>(null);
  const [activeSerial, setActiveSerial] = useState<number | null>(null);
  const [isReading, setReading] = useState(false);
  const [topRequest, setTopRequest] = useState(0);
  const held = useRef<EntryBuffer | null>(null);

  const isHeld = isPaused || open !== null || isReading;
  if (!isHeld) held.current = null;
  else held.current ??= buffer;
  const shown = held.current ?? buffer;

  const filter = useMemo(() => parseFilter(place.filter), [place.filter]);
  const rows = useMemo(
    () => shown.rows.filter(({ entry }) => filter.matches(entry)).toReversed(),
    [shown, filter],
  );
  const newCount = useMemo(
    () =>
      buffer.rows.filter(({ serial, entry }) => serial >= shown.nextSerial && filter.matches(entry))
        .length,
    [buffer, shown, filter],
  );

  const toTop = (): void => {
    setActiveSerial(null);
    setReading(false);
    setTopRequest((before) => before + 1);
  };
  const showNew = (): void => {
    held.current = isHeld ? buffer : null;
    toTop();
  };
  const clearAll = (): void => {
    held.current = null;
    setOpen(null);
    toTop();
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
      requestAnimationFrame(() => focusRow(open.serial));
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
        counts={<Connection state={connection} isPaused={isPaused} />}
        onReload={showNew}
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
          <Icon name="close" />
          Clear
        </button>
      </PageHeader>
      <RequestsHint />
      <RateStrip meter={meter} />
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
              {formatCount(newCount)} new
            </button>
          )}
          {rows.length > 0 ? (
            <ActivityList
              rows={rows}
              activeSerial={activeSerial}
              openSerial={open?.serial ?? null}
              onActivate={setActiveSerial}
              onOpen={setOpen}
              onReading={setReading}
              topRequest={topRequest}
            />
          ) : (
            <NoRows hasEntries={shown.rows.length > 0} connection={connection} />
          )}
        </div>
        {open !== null && <EntryDetails entry={open.entry} onClose={leave} />}
      </div>
      <p class="live-foot soft">
        {countedNoun(rows.length, "row")}
        {droppedText(buffer)}
      </p>
    </div>
  );
}

function droppedText({ droppedByPage, droppedByServer }: EntryBuffer): string {
  const page = `this page keeps the newest ${formatCount(rowsMax)} and has dropped ${formatCount(droppedByPage)}`;
  const server = `the server dropped ${formatCount(droppedByServer)} that this page had not read`;
  return `${droppedByPage > 0 ? ` · ${page}` : ""}${droppedByServer > 0 ? ` · ${server}` : ""}`;
}

interface ConnectionProps {
  readonly state: ConnectionState;
  readonly isPaused: boolean;
}

function Connection({ state, isPaused }: ConnectionProps) {
  const [tone, text] =
    state === "lost"
      ? ["bad", "The explorer does not answer. This page tries again every second."]
      : isPaused
        ? ["warning", "Paused"]
        : state === "open"
          ? ["good", "Connected"]
          : ["", "Connecting…"];
  return (
    <span role="status">
      <span class={`badge ${tone}`}>{text}</span>
    </span>
  );
}

function RequestsHint() {
  const project = useProject();
  if (project === null || project.hasRequests) return null;
  return (
    <p class="soft">
      Requests of a script appear here when <code>ledge dev</code> serves this page. Calls of other
      programs, DNS queries and API calls appear now.
    </p>
  );
}

/** Rates of the last second, and the last minute as bars: all that ended, with the errors. */
function RateStrip({ meter }: { readonly meter: ActivityMeter }) {
  const [rates, setRates] = useState(() => meter.read(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setRates(meter.read(Date.now())), 1000);
    return () => clearInterval(timer);
  }, [meter]);
  const all = rates.error.map((_, second) =>
    groups.reduce((sum, group) => sum + (rates[group][second] ?? 0), 0),
  );
  const most = Math.max(1, ...all);
  const errors = rates.error.reduce((sum, count) => sum + count, 0);
  return (
    <section
      class="toolbar live-strip panel"
      aria-label={`Rates of the last ${meterSeconds} seconds`}
    >
      <dl class="toolbar">
        {groups.map((group) => (
          <div key={group} class={`kind-${group}`}>
            <dt>{groupLabels[group]}</dt>
            <dd>{formatCount(rates[group].at(-1) ?? 0)}/s</dd>
          </div>
        ))}
        <div class={errors > 0 ? "bad" : ""}>
          <dt>Errors</dt>
          <dd>{formatCount(errors)} a minute</dd>
        </div>
      </dl>
      <svg
        role="img"
        aria-label={`At most ${most} a second, ${countedNoun(errors, "error")}`}
        viewBox={`0 0 ${meterSeconds} 24`}
        preserveAspectRatio="none"
      >
        <path d={barsPath(all, most)} />
        <path class="bad" d={barsPath(rates.error, most)} />
      </svg>
    </section>
  );
}

/** A bar a second. A second with one call is visible beside a second with a thousand. */
function barsPath(perSecond: readonly number[], most: number): string {
  return perSecond
    .map((count, second) => {
      const height = Math.max(2, (count / most) * 24);
      return count === 0 ? "" : `M${second} 24v${-height}h.8v${height}z`;
    })
    .join("");
}

interface FilterBarProps {
  readonly filter: string;
  readonly problem: string | null;
  readonly inputRef: Ref<HTMLInputElement>;
  readonly onChange: (filter: string) => void;
}

/** A text, and chips that edit the text. */
function FilterBar({ filter, problem, inputRef, onChange }: FilterBarProps) {
  const chips = [
    ...groups.map((group) => [`kind:${group}`, groupLabels[group]] as const),
    ["is:error", "Errors"] as const,
  ];
  return (
    <div class="toolbar live-filter" role="search">
      <input
        class="input"
        type="search"
        ref={inputRef}
        value={filter}
        aria-label="Filter"
        placeholder="Filter: a URL, key or name, or bucket:photos is:error >100ms"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="live-filter-problem"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <div class="toolbar live-chips" role="group" aria-label="Kinds">
        {chips.map(([word, label]) => (
          <button
            key={word}
            type="button"
            class="button chip"
            aria-pressed={hasWord(filter, word)}
            onClick={() => onChange(toggleWord(filter, word))}
          >
            {label}
          </button>
        ))}
      </div>
      <p id="live-filter-problem" class="field-problem" aria-live="polite">
        {problem}
      </p>
    </div>
  );
}

interface NoRowsProps {
  readonly hasEntries: boolean;
  readonly connection: ConnectionState;
}

function NoRows({ hasEntries, connection }: NoRowsProps) {
  if (hasEntries) return <Empty title="No entry matches the filter" />;
  if (connection === "connecting") return <Loading what="the activity" />;
  return (
    <Empty title="Nothing has happened yet">
      <p>Send a request to the script, call a bucket, or ask the name server: it appears here.</p>
    </Empty>
  );
}
