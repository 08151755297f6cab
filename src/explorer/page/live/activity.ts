/**
 * The stream of the activity, connected while the view and its tab are shown. A stream that ends is
 * opened again after the last entry that was read. The page renders at most four times a second,
 * however many entries arrive.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ActivityBatch, ActivityEntry } from "../../api/activity.ts";
import { apiUrl } from "../api-client.ts";
import { openStream } from "../frame/events.ts";
import { isError, isOfExplorer } from "./entry-words.ts";

/** Enough to look back on, and little enough to filter with each letter that is typed. */
const rowsMax = 2000;

/** The ids of the server are no names: a server that is started again counts from 1. */
export interface LiveRow {
  readonly serial: number;
  readonly entry: ActivityEntry;
}

/** The newest entries, up to a limit. Entries that leave are counted. */
export interface EntryBuffer {
  /** By the time of their start: DNS queries from before the page was opened arrive after newer requests. */
  readonly rows: readonly LiveRow[];
  /** The id after which a new connection goes on: 0 before the first entry. */
  readonly lastId: number;
  readonly nextSerial: number;
  /** Entries that made room for newer ones, here or at the server. */
  readonly dropped: number;
}

export const emptyBuffer: EntryBuffer = { rows: [], lastId: 0, nextSerial: 1, dropped: 0 };

export function addBatch(
  buffer: EntryBuffer,
  { entries, dropped }: ActivityBatch,
  limit = rowsMax,
): EntryBuffer {
  // A request that ran for long was there before: its new entry has all that is known.
  const replaced = new Set(
    entries.flatMap((entry) => (entry.kind === "request" ? (entry.replaces ?? []) : [])),
  );
  const kept =
    replaced.size === 0 ? buffer.rows : buffer.rows.filter(({ entry }) => !replaced.has(entry.id));
  const added = entries.map((entry, index) => ({ serial: buffer.nextSerial + index, entry }));
  const all = [...kept, ...added].toSorted((one, other) => one.entry.at - other.entry.at);
  const rows = all.length > limit ? all.slice(-limit) : all;
  return {
    rows,
    // The last entry rather than the highest id: a server that is started again has lower ids.
    lastId: entries.at(-1)?.id ?? buffer.lastId,
    nextSerial: buffer.nextSerial + added.length,
    dropped: buffer.dropped + dropped + all.length - rows.length,
  };
}

/** Without rows, at the same place of the stream. */
export function clearBuffer({ lastId, nextSerial }: EntryBuffer): EntryBuffer {
  return { ...emptyBuffer, lastId, nextSerial };
}

export const meterSeconds = 60;

/** How many ended in each second, and how many of them failed; the last item is the last whole second. */
export interface Rates {
  readonly all: readonly number[];
  readonly errors: readonly number[];
}

/** Rates of the last 60 seconds. An entry counts in the second in which it ended. */
export class ActivityMeter {
  readonly #bins = new Map<number, { all: number; errors: number }>();

  /** @param now milliseconds since the epoch */
  add(entries: readonly ActivityEntry[], now: number): void {
    const oldest = Math.floor(now / 1000) - meterSeconds;
    for (const entry of entries) {
      const second = Math.floor((entry.at + entry.milliseconds) / 1000);
      if (second < oldest || isOfExplorer(entry)) continue;
      const bin = this.#bins.get(second) ?? { all: 0, errors: 0 };
      this.#bins.set(second, bin);
      bin.all++;
      if (isError(entry)) bin.errors++;
    }
    for (const second of this.#bins.keys()) if (second < oldest) this.#bins.delete(second);
  }

  /** @param now milliseconds since the epoch */
  read(now: number): Rates {
    const first = Math.floor(now / 1000) - meterSeconds;
    const bins = Array.from({ length: meterSeconds }, (_, index) => this.#bins.get(first + index));
    return {
      all: bins.map((bin) => bin?.all ?? 0),
      errors: bins.map((bin) => bin?.errors ?? 0),
    };
  }
}

const renderMilliseconds = 250;

export type ConnectionState = "connecting" | "open" | "lost";

export function useActivity() {
  const current = useRef(emptyBuffer);
  const [meter] = useState(() => new ActivityMeter());
  const [buffer, setBuffer] = useState(emptyBuffer);
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  useEffect(() => {
    let render: ReturnType<typeof setTimeout> | undefined;
    const close = openStream(() => apiUrl("/api/activity", { after: current.current.lastId }), {
      onOpen: () => setConnection("open"),
      onMessage: (data) => {
        const batch = JSON.parse(data) as ActivityBatch;
        current.current = addBatch(current.current, batch);
        meter.add(batch.entries, Date.now());
        render ??= setTimeout(() => {
          render = undefined;
          setBuffer(current.current);
        }, renderMilliseconds);
      },
      onLost: () => setConnection("lost"),
    });
    return () => {
      close();
      clearTimeout(render);
    };
  }, [meter]);
  const clear = (): void => {
    current.current = clearBuffer(current.current);
    setBuffer(current.current);
  };
  return { buffer, connection, meter, clear };
}
