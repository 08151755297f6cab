/** The table of the objects of a bucket, by key. */
import type { Bound, ListedRow, ListedRun } from "../core/list-page.ts";
import { listLimitMax } from "../core/limits.ts";
import type { Include } from "../core/object-encoding.ts";
import type { EncodedObject } from "../core/operations.ts";
import { decodeSegments, encodeSegments, type Segment } from "../core/content-segment.ts";
import { firstRow, onlyRow } from "./rows.ts";

/** Where the content of an object is: the id of one body, or segments. */
export type ContentLocation = number | readonly Segment[];

/** An object to store. */
export interface ObjectRow {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly location: ContentLocation;
  /** The end of the body, if it is not in the row of the body (`core/page-fit.ts`). */
  readonly tail: Uint8Array | null;
}

export interface StoredObject {
  readonly text: EncodedObject;
  readonly location: ContentLocation;
  /** The content, if it is one body: then the query for the row returns it. */
  readonly bytes: ArrayBuffer | null;
}

/** A row of a listing, as text (`core/object-encoding.ts`). */
export interface RowText extends ListedRow {
  readonly json: string;
}

// SQLite returns the name of a column with every query, so the names are short.
const text = "'[' || fields || ',' || coalesce(metadata, 'null') || ']' AS t";

/** The most rows that one query of `scan` reads. */
const rowsRunMax = listLimitMax + 1;

export class ObjectTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  text(key: string): EncodedObject | null {
    const row = firstRow<[string]>(
      this.#sql.exec(`SELECT ${text} FROM objects WHERE key = ?`, key),
    );
    return row === undefined ? null : row[0];
  }

  find(key: string): StoredObject | null {
    const row = firstRow<[string, ArrayBuffer | null, ArrayBuffer | null, ...LocationColumns]>(
      this.#sql.exec(
        `SELECT ${text}, bytes AS b, tail AS e, body AS i, segments AS s FROM objects ` +
          "LEFT JOIN bodies ON bodies.id = body WHERE key = ?",
        key,
      ),
    );
    if (row === undefined) return null;
    const [found, body, tail, ...location] = row;
    return {
      text: found,
      location: locationOf(location),
      bytes: body !== null && tail !== null ? joinBuffers(body, tail) : body,
    };
  }

  /** Stores an object if its key does not exist. Returns whether it did. */
  insert({ key, fields, metadata, location, tail }: ObjectRow): boolean {
    // `rowsWritten` of the cursor would count the rows that triggers write.
    const inserted = this.#sql.exec(
      "INSERT INTO objects (key, fields, metadata, body, tail, segments) " +
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
      key,
      fields,
      metadata,
      bodyOf(location),
      tail,
      segmentsOf(location),
    );
    return inserted.toArray().length > 0;
  }

  /** Overwrites the object with the same key. */
  update({ key, fields, metadata, location, tail }: ObjectRow): void {
    this.#sql.exec(
      "UPDATE objects SET fields = ?, metadata = ?, body = ?, tail = ?, segments = ? WHERE key = ?",
      fields,
      metadata,
      bodyOf(location),
      tail,
      segmentsOf(location),
      key,
    );
  }

  /** Where the content of an object is; `null` if the object does not exist. */
  location(key: string): ContentLocation | null {
    const row = firstRow<LocationColumns>(
      this.#sql.exec("SELECT body, segments FROM objects WHERE key = ?", key),
    );
    return row === undefined ? null : locationOf(row);
  }

  /** Removes objects. Returns where their content is. */
  remove(keys: readonly string[]): ContentLocation[] {
    const [first, second] = keys;
    const rows =
      second === undefined
        ? this.#sql.exec("DELETE FROM objects WHERE key = ? RETURNING body, segments", first)
        : this.#sql.exec(
            "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) " +
              "RETURNING body, segments",
            JSON.stringify(keys),
          );
    return Array.from(rows.raw<LocationColumns>(), locationOf);
  }

  /**
   * Up to `limit` rows in key order, concatenated by SQLite: returning a row costs more than
   * reading it. `null` when the text is longer than the longest value of SQLite.
   */
  run({ from, end }: Bounds, include: Include, limit: number): ListedRun | null {
    const query =
      "SELECT coalesce(group_concat(t), '') AS j, count(*) AS n, max(key) AS k " +
      `FROM (SELECT ${rowText(include)} ${inBounds(from, end)})`;
    try {
      const [json, count, lastKey] = onlyRow<[string, number, string | null]>(
        this.#sql.exec(query, ...boundValues(from, end), limit),
      );
      return { json, count, lastKey, weight: json.length - Math.max(count - 1, 0) };
    } catch (error) {
      if (error instanceof Error && error.message.includes("too big")) return null;
      throw error;
    }
  }

  /**
   * Rows in key order, read as the caller iterates.
   *
   * A query that is not read to its end keeps its statement busy, and SQLite prepares another for
   * the next query, which costs more than reading rows. So rows are read in runs, each to its end:
   * the first run has as many rows as the caller expects to need, and each later run has more.
   */
  *scan(
    { from, end }: Bounds,
    { include, rowsExpected }: { include: Include; rowsExpected: number },
  ): Generator<RowText> {
    let bound = from;
    for (let run = rowsExpected; ; run = Math.min(run * 4, rowsRunMax)) {
      const rows = this.#rows({ from: bound, end }, include, run);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < run) return;
      bound = { key: last.key, inclusive: false };
    }
  }

  #rows({ from, end }: Bounds, include: Include, limit: number): RowText[] {
    const query = `SELECT ${rowText(include)} ${inBounds(from, end)}`;
    return Array.from(
      this.#sql.exec(query, ...boundValues(from, end), limit).raw<[string, string]>(),
      ([key, json]) => ({ key, json, weight: json.length }),
    );
  }

  stats(): { objects: number; bytes: number } {
    const [objects, bytes] = onlyRow<[number, number]>(
      this.#sql.exec("SELECT count(*), coalesce(sum(fields ->> '$[1]'), 0) FROM objects"),
    );
    return { objects, bytes };
  }
}

interface Bounds {
  readonly from: Bound;
  readonly end: string | null;
}

/** Two columns: the key, and the text `[key, fields, metadata]`. */
function rowText(include: Include): string {
  return `key, '[' || json_quote(key) || ',' || fields || ',' || ${metadataText(include)} || ']' AS t`;
}

function metadataText({ http, custom }: Include): string {
  if (http && custom) return "coalesce(metadata, 'null')";
  if (http) return "coalesce('[' || (metadata -> '$[0]') || ']', 'null')";
  if (custom) return "coalesce('[null,' || (metadata -> '$[1]') || ']', 'null')";
  return "'null'";
}

/** The plus hides the limit from SQLite, which would prepare the statement again for each value. */
function inBounds(from: Bound, end: string | null): string {
  return (
    `FROM objects WHERE key ${from.inclusive ? ">=" : ">"} ? ` +
    `${end === null ? "" : "AND key < ? "}ORDER BY key LIMIT +?`
  );
}

function boundValues(from: Bound, end: string | null): string[] {
  return end === null ? [from.key] : [from.key, end];
}

type LocationColumns = [body: number | null, segments: string | null];

function bodyOf(location: ContentLocation): number | null {
  return typeof location === "number" ? location : null;
}

function segmentsOf(location: ContentLocation): string | null {
  return typeof location === "number" ? null : encodeSegments(location);
}

function locationOf([body, segments]: LocationColumns): ContentLocation {
  return body ?? decodeSegments(segments as string);
}

/** Joined here and not in SQL, where the longest bodies would be copied as well. */
function joinBuffers(body: ArrayBuffer, tail: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(body.byteLength + tail.byteLength);
  bytes.set(new Uint8Array(body));
  bytes.set(new Uint8Array(tail), body.byteLength);
  return bytes.buffer;
}
