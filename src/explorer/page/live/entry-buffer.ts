/**
 * The entries that the live view has: the newest ones, up to a limit. Entries that leave are counted.
 *
 * A serial number names a row. The ids of the server are no names: a server that is started again
 * counts from 1.
 */
import type { ActivityBatch, ActivityEntry } from "../../api/activity.ts";

/** Enough to look back on, and little enough to filter with each letter that is typed. */
export const rowsMax = 2000;

export interface LiveRow {
  readonly serial: number;
  readonly entry: ActivityEntry;
}

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
  const added = entries.map((entry, index) => ({ serial: buffer.nextSerial + index, entry }));
  const all = [...buffer.rows, ...added];
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
