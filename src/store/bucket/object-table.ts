/** The objects of a bucket, by key. */
import type { Bound, ListedRow, ListedRun } from "../core/list-page.ts";
import { listLimitMax } from "../core/limits.ts";
import type { Include, EncodedObject } from "../core/object-encoding.ts";
import { decodeSegments, encodeSegments, type Segment } from "../core/content-segment.ts";
import { firstRow, onlyRow } from "./rows.ts";

/** Where an object's content is: one body, or segments. */
export type Place = number | readonly Segment[];

/** An object to be stored. */
export interface ObjectRow {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly place: Place;
  /** The end of a body that is not in its row. */
  readonly tail: Uint8Array | null;
}

export interface StoredObject {
  readonly text: EncodedObject;
  readonly place: Place;
  /** All of the content where that is one body: most are, and then it comes with the row. */
  readonly bytes: ArrayBuffer | null;
}

/** A row of a listing, as text (`core/object-text.ts`). */
export interface RowText extends ListedRow {
  readonly json: string;
}

// A column costs its name as well as its value, for every query: the names are short.
const text = "'[' || fields || ',' || coalesce(metadata, 'null') || ']' AS t";

/** The longest run of rows that is read at once. */
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
    const row = firstRow<[string, ArrayBuffer | null, ArrayBuffer | null, ...PlaceColumns]>(
      this.#sql.exec(
        `SELECT ${text}, bytes AS b, tail AS e, body AS i, segments AS s FROM objects ` +
          "LEFT JOIN bodies ON bodies.id = body WHERE key = ?",
        key,
      ),
    );
    if (row === undefined) return null;
    const [found, body, tail, ...place] = row;
    return {
      text: found,
      place: placeOf(place),
      bytes: body !== null && tail !== null ? joinBuffers(body, tail) : body,
    };
  }

  /** Stores an object if there is none of its key; says whether it did. */
  insert({ key, fields, metadata, place, tail }: ObjectRow): boolean {
    // The number of rows written would count those of triggers, too.
    const inserted = this.#sql.exec(
      "INSERT INTO objects (key, fields, metadata, body, tail, segments) " +
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
      key,
      fields,
      metadata,
      bodyOf(place),
      tail,
      segmentsOf(place),
    );
    return inserted.toArray().length > 0;
  }

  /** Stores an object in place of the one of its key. */
  update({ key, fields, metadata, place, tail }: ObjectRow): void {
    this.#sql.exec(
      "UPDATE objects SET fields = ?, metadata = ?, body = ?, tail = ?, segments = ? WHERE key = ?",
      fields,
      metadata,
      bodyOf(place),
      tail,
      segmentsOf(place),
      key,
    );
  }

  /** Where the content of an object is; `null` without one. */
  place(key: string): Place | null {
    const row = firstRow<PlaceColumns>(
      this.#sql.exec("SELECT body, segments FROM objects WHERE key = ?", key),
    );
    return row === undefined ? null : placeOf(row);
  }

  /** Removes objects and returns where their content was. */
  remove(keys: readonly string[]): Place[] {
    const [first, second] = keys;
    const rows =
      second === undefined
        ? this.#sql.exec("DELETE FROM objects WHERE key = ? RETURNING body, segments", first)
        : this.#sql.exec(
            "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) " +
              "RETURNING body, segments",
            JSON.stringify(keys),
          );
    return Array.from(rows.raw<PlaceColumns>(), placeOf);
  }

  /**
   * Up to `limit` rows in key order, put together by SQLite: handing out a row costs more than
   * reading it. `null` when all together are longer than SQLite lets a value be.
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
   * Rows in key order, read as they are asked for.
   *
   * A query that is left before its end keeps its statement busy, and the next has to be prepared
   * anew, which costs more than reading rows. So rows are read in runs, each to its end: the first
   * as long as the caller expects to need, the others longer and longer.
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

/** `[key, fields, metadata]`, beside the key itself. */
function rowText(include: Include): string {
  return `key, '[' || json_quote(key) || ',' || fields || ',' || ${metadataText(include)} || ']' AS t`;
}

function metadataText({ http, custom }: Include): string {
  if (http && custom) return "coalesce(metadata, 'null')";
  if (http) return "coalesce('[' || (metadata -> '$[0]') || ']', 'null')";
  if (custom) return "coalesce('[null,' || (metadata -> '$[1]') || ']', 'null')";
  return "'null'";
}

/** The plus hides the limit from SQLite, which would prepare the statement anew for every value. */
function inBounds(from: Bound, end: string | null): string {
  return (
    `FROM objects WHERE key ${from.inclusive ? ">=" : ">"} ? ` +
    `${end === null ? "" : "AND key < ? "}ORDER BY key LIMIT +?`
  );
}

function boundValues(from: Bound, end: string | null): string[] {
  return end === null ? [from.key] : [from.key, end];
}

type PlaceColumns = [body: number | null, segments: string | null];

function bodyOf(place: Place): number | null {
  return typeof place === "number" ? place : null;
}

function segmentsOf(place: Place): string | null {
  return typeof place === "number" ? null : encodeSegments(place);
}

function placeOf([body, segments]: PlaceColumns): Place {
  return body ?? decodeSegments(segments as string);
}

/** Here and not in SQL, where the longest bodies would be copied for the sake of the shortest. */
function joinBuffers(body: ArrayBuffer, tail: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(body.byteLength + tail.byteLength);
  bytes.set(new Uint8Array(body));
  bytes.set(new Uint8Array(tail), body.byteLength);
  return bytes.buffer;
}
