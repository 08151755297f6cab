/**
 * What happens in the project, as it happens. The newest row is on top.
 *
 * Rows do not move while a person reads: while the pointer is on a row, a row has the focus, the list
 * is scrolled, details are open, or the list is paused. New entries are then counted in a button.
 */
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { countedNoun, formatCount } from "../frame/format.ts";
import { useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Button, Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import type { Place } from "../location.ts";
import { hasWord, parseFilter, toggleWord } from "./activity-filter.ts";
import { ActivityList, focusRow } from "./activity-list.tsx";
import {
  meterSeconds,
  useActivity,
  type ActivityMeter,
  type ConnectionState,
  type EntryBuffer,
  type LiveRow,
} from "./activity.ts";
import { EntryDetails } from "./entry-details.tsx";
import { groupLabels } from "./entry-words.ts";

interface LiveViewProps {
  readonly place: Extract<Place, { view: "live" }>;
  /** Whether the server observes the requests of a script. */
  readonly hasRequests: boolean;
}

export function LiveView({ place, hasRequests }: LiveViewProps) {
  const { go } = useNavigation();
  const { buffer, connection, meter, clear } = useActivity();
  const filterInput = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const focusing = useRef(0);
  const [isPaused, setPaused] = useState(false);
  const [active, setActive] = useState<LiveRow | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [isReading, setReading] = useState(false);
  /** What is shown while a person reads. */
  const [held, setHeld] = useState<EntryBuffer | null>(null);

  const isHeld = isPaused || isOpen || isReading;
  if (isHeld !== (held !== null)) setHeld(isHeld ? buffer : null);
  const shown = (isHeld ? held : null) ?? buffer;

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

  const showNew = (): void => {
    setHeld(null);
    list.current?.scrollTo(0, 0);
    setActive(null);
    setReading(false);
  };
  const clearAll = (): void => {
    setOpen(false);
    setActive(null);
    setReading(false);
    setHeld(null);
    clear();
  };
  const move = (step: number): void => {
    const index = rows.findIndex(({ serial }) => serial === active?.serial);
    setActive(rows[Math.min(rows.length - 1, Math.max(0, index + step))] ?? null);
  };
  const leave = (): void => {
    if (document.activeElement === filterInput.current) filterInput.current?.blur();
    else if (isOpen) {
      setOpen(false);
      if (active !== null) focusing.current = requestAnimationFrame(() => focusRow(active));
    } else {
      // A second Escape can come before the row has the focus.
      cancelAnimationFrame(focusing.current);
      setActive(null);
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    }
  };
  useShortcuts({
    "/": { label: "Filter", act: () => filterInput.current?.focus() },
    " ": { label: "Pause or continue", act: () => setPaused((before) => !before) },
    c: { label: "Clear the list", act: clearAll },
    ArrowDown: { label: "The next row", act: () => move(1) },
    ArrowUp: { label: "The row before", act: () => move(-1) },
    Enter: { label: "Open the row", act: () => setOpen(active !== null) },
    Escape: { label: "Close the details, leave the rows", act: leave },
  });

  const [tone, state] =
    connection === "open" && isPaused ? ["warning", "Paused"] : connectionWords[connection];
  return (
    <div class="live">
      <PageHeader
        title="Live"
        counts={
          <span role="status" class={`badge ${tone}`}>
            {state}
          </span>
        }
        onReload={showNew}
      >
        <Button
          icon={isPaused ? "play" : "pause"}
          isPressed={isPaused}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? "Continue" : "Pause"}
        </Button>
        <Button icon="close" onClick={clearAll}>
          Clear
        </Button>
      </PageHeader>
      {!hasRequests && (
        <p class="soft">
          Requests of a script appear here when <code>ledge dev</code> serves this page. Calls of
          other programs, DNS queries and API calls appear now.
        </p>
      )}
      <RateStrip meter={meter} />
      <FilterBar
        filter={place.filter}
        problem={filter.problem}
        input={filterInput}
        onChange={(text) => go({ view: "live", filter: text }, true)}
      />
      <div class={isOpen ? "live-body with-details" : "live-body"}>
        <div class="live-stream">
          {newCount > 0 && isHeld && (
            <button type="button" class="button primary live-new" onClick={showNew}>
              {formatCount(newCount)} new
            </button>
          )}
          {rows.length > 0 ? (
            <ActivityList
              list={list}
              rows={rows}
              active={active}
              isOpen={isOpen}
              onOpen={(row) => {
                setActive(row);
                setOpen(true);
              }}
              onReading={setReading}
            />
          ) : (
            <NoRows hasEntries={shown.rows.length > 0} connection={connection} />
          )}
        </div>
        {isOpen && active !== null && <EntryDetails entry={active.entry} onClose={leave} />}
      </div>
      <p class="soft">
        {countedNoun(rows.length, "row")}
        {buffer.dropped > 0 && `, after ${formatCount(buffer.dropped)} older ones that are gone`}
      </p>
    </div>
  );
}

/** With the tone of the badge. */
const connectionWords = {
  connecting: ["", "Connecting…"],
  open: ["good", "Connected"],
  lost: ["bad", "The explorer does not answer. This page tries again every second."],
} as const;

/** The rate of the last second, and the last minute as bars: all that ended, with the errors. */
function RateStrip({ meter }: { readonly meter: ActivityMeter }) {
  const [{ all, errors }, setRates] = useState(() => meter.read(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setRates(meter.read(Date.now())), 1000);
    return () => clearInterval(timer);
  }, [meter]);
  const most = Math.max(1, ...all);
  const failed = errors.reduce((sum, count) => sum + count, 0);
  return (
    <section class="toolbar live-strip" aria-label={`Rates of the last ${meterSeconds} seconds`}>
      <span>{formatCount(all.at(-1) ?? 0)} a second</span>
      <span class={failed > 0 ? "badge bad" : "badge"}>
        {countedNoun(failed, "error")} in a minute
      </span>
      <svg
        role="img"
        aria-label={`At most ${most} a second, ${countedNoun(failed, "error")}`}
        viewBox={`0 0 ${meterSeconds} 24`}
        preserveAspectRatio="none"
      >
        <path d={barsPath(all, most)} />
        <path class="bad" d={barsPath(errors, most)} />
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

const chips: readonly (readonly [word: string, label: string])[] = [
  ...Object.entries(groupLabels).map(([group, label]) => [`kind:${group}`, label] as const),
  ["is:error", "Errors"],
];

interface FilterBarProps {
  readonly filter: string;
  readonly problem: string | null;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly onChange: (filter: string) => void;
}

/** A text, and chips that edit the text. */
function FilterBar({ filter, problem, input, onChange }: FilterBarProps) {
  return (
    <div class="toolbar live-filter" role="search">
      <input
        class="input"
        type="search"
        ref={input}
        value={filter}
        aria-label="Filter"
        placeholder="Filter: a URL, key or name, or kind:kv is:error >100ms"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="live-filter-problem"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <div class="toolbar live-chips" role="group" aria-label="Kinds">
        {chips.map(([word, label]) => (
          <Button
            key={word}
            tone="chip"
            isPressed={hasWord(filter, word)}
            onClick={() => onChange(toggleWord(filter, word))}
          >
            {label}
          </Button>
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
