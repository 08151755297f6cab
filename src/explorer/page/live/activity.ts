/**
 * The stream of the activity, connected while the view and its tab are shown. A stream that ends is
 * opened again after the last entry that was read. The page renders at most four times a second,
 * however many entries arrive.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ActivityBatch, ActivityEntry } from "../../api/activity.ts";
import { apiUrl } from "../api-client.ts";
import { openStream } from "../frame/events.ts";
import { groupOf, groups, isError, isOfExplorer, type Group } from "./entry-words.ts";

/** Enough to look back on, and little enough to filter with each letter that is typed. */
export const rowsMax = 2000;

/** The ids of the server are no names: a server that is started again counts from 1. */
export interface LiveRow {
  readonly serial: number;
  readonly entry: ActivityEntry;
}

/** The newest entries, up to a limit. Entries that leave are counted. */
export interface EntryBuffer {
  /** The oldest row comes first. */
  readonly rows: readonly LiveRow[];
  /** The id after which a new connection goes on: 0 before the first entry. */
  readonly lastId: number;
  readonly nextSerial: number;
  /** Entries that the server dropped before the page could read them. */
  readonly droppedByServer: number;
  /** Entries that made room for newer ones. */
  readonly droppedByPage: number;
}

export const emptyBuffer: EntryBuffer = {
  rows: [],
  lastId: 0,
  nextSerial: 1,
  droppedByServer: 0,
  droppedByPage: 0,
};

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
  const all = [...kept, ...added];
  const rows = all.length > limit ? all.slice(-limit) : all;
  return {
    rows,
    // The last entry rather than the highest id: a server that is started again has lower ids.
    lastId: entries.at(-1)?.id ?? buffer.lastId,
    nextSerial: buffer.nextSerial + added.length,
    droppedByServer: buffer.droppedByServer + dropped,
    droppedByPage: buffer.droppedByPage + all.length - rows.length,
  };
}

/** Without rows, at the same place of the stream. */
export function clearBuffer({ lastId, nextSerial }: EntryBuffer): EntryBuffer {
  return { ...emptyBuffer, lastId, nextSerial };
}

export const meterSeconds = 60;

type Counted = Group | "error";
type Bin = Record<Counted, number>;

/** How many ended in each second; the last item is the last whole second. */
export type Rates = Readonly<Record<Counted, readonly number[]>>;

/**
 * Rates of the last 60 seconds. An entry counts in the second in which it ended, and the calls of a
 * request count with their own kinds.
 */
export class ActivityMeter {
  readonly #bins = new Map<number, Bin>();

  /** @param now milliseconds since the epoch */
  add(entries: readonly ActivityEntry[], now: number): void {
    const oldest = Math.floor(now / 1000) - meterSeconds;
    for (const entry of entries) {
      if (isOfExplorer(entry)) continue;
      this.#count(entry, oldest);
      if (entry.kind === "request") for (const call of entry.calls) this.#count(call, oldest);
    }
    for (const second of this.#bins.keys()) if (second < oldest) this.#bins.delete(second);
  }

  /** @param now milliseconds since the epoch */
  read(now: number): Rates {
    const first = Math.floor(now / 1000) - meterSeconds;
    const rates = (name: Counted): readonly number[] =>
      Array.from(
        { length: meterSeconds },
        (_, index) => this.#bins.get(first + index)?.[name] ?? 0,
      );
    return Object.fromEntries(
      [...groups, "error" as const].map((name) => [name, rates(name)]),
    ) as Rates;
  }

  #count(entry: ActivityEntry, oldest: number): void {
    const second = Math.floor((entry.at + entry.milliseconds) / 1000);
    if (second < oldest) return;
    let bin = this.#bins.get(second);
    if (bin === undefined) {
      bin = { request: 0, bucket: 0, query: 0, api: 0, other: 0, error: 0 };
      this.#bins.set(second, bin);
    }
    bin[groupOf(entry.kind)]++;
    if (isError(entry)) bin.error++;
  }
}

const renderMilliseconds = 250;

export type ConnectionState = "connecting" | "open" | "lost";

export interface ActivityStream {
  readonly buffer: EntryBuffer;
  readonly connection: ConnectionState;
  readonly meter: ActivityMeter;
  readonly clear: () => void;
}

export function useActivity(): ActivityStream {
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
