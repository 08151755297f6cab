/** The objects of a bucket, by key. */
import type { Bound, ListedRow } from "../core/list-page.ts";
import { listLimitMax } from "../core/limits.ts";
import type { ObjectRecord, StorageClass } from "../core/operations.ts";
import { decodeSegments, encodeSegments, type Segment } from "../core/segment.ts";
import { firstRow, onlyRow } from "./rows.ts";

/** An object and where its content is. */
export interface StoredObject {
  readonly record: Required<ObjectRecord>;
  readonly segments: readonly Segment[];
}

/** A row of a listing, written as JSON by SQLite (see `listed-object.ts`). */
export interface ObjectRow extends ListedRow {
  readonly json: string;
}

const columns =
  "version, size, etag, uploaded, checksums, storage_class, http, custom, segments" as const;

type Columns = [
  version: string,
  size: number,
  etag: string,
  uploaded: number,
  checksums: string,
  storageClass: StorageClass,
  http: string,
  custom: string,
  segments: string,
];

/** The longest run of rows that is read at once. */
const rowsRunMax = listLimitMax + 1;

export class ObjectTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  find(key: string): StoredObject | null {
    const row = firstRow<Columns>(
      this.#sql.exec(`SELECT ${columns} FROM objects WHERE key = ?`, key),
    );
    return row === undefined ? null : storedObject(key, row);
  }

  /** An object with all of its content, where that is one row: most are, and then it is one query. */
  findWithBytes(key: string): (StoredObject & { readonly bytes: ArrayBuffer | null }) | null {
    const row = firstRow<[...Columns, ArrayBuffer | null]>(
      this.#sql.exec(
        `SELECT ${columns}, bytes FROM objects ` +
          "LEFT JOIN bodies ON bodies.id = segments ->> '$[0][1]' AND segments ->> '$[1]' IS NULL " +
          "WHERE key = ?",
        key,
      ),
    );
    if (row === undefined) return null;
    const bytes = row.at(-1) as ArrayBuffer | null;
    return { ...storedObject(key, row.slice(0, -1) as Columns), bytes };
  }

  /** Writes an object in place of the one that was there. */
  put({ record, segments }: StoredObject): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO objects (key, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      record.key,
      record.version,
      record.size,
      record.etag,
      record.uploaded,
      JSON.stringify(record.checksums),
      record.storageClass,
      JSON.stringify(record.http),
      JSON.stringify(record.custom),
      encodeSegments(segments),
    );
  }

  /** Where the content of an object is; nowhere without one. */
  segments(key: string): Segment[] {
    const row = firstRow<[string]>(
      this.#sql.exec("SELECT segments FROM objects WHERE key = ?", key),
    );
    return row === undefined ? [] : decodeSegments(row[0]);
  }

  /** Removes objects and returns where their content was. */
  remove(keys: readonly string[]): Segment[] {
    const [first, second] = keys;
    const rows =
      second === undefined
        ? this.#sql.exec("DELETE FROM objects WHERE key = ? RETURNING segments", first)
        : this.#sql.exec(
            "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) RETURNING segments",
            JSON.stringify(keys),
          );
    return Array.from(rows.raw<[string]>(), ([segments]) => decodeSegments(segments)).flat();
  }

  /**
   * Rows in key order, read as they are asked for.
   *
   * A query that is left before its end keeps its statement busy, and the next has to be prepared
   * anew, which costs more than reading rows. So rows are read in runs, each to its end: the first
   * as long as the caller expects to need, the others longer and longer.
   */
  *scan(
    { from, end }: { from: Bound; end: string | null },
    { include, rowsExpected }: { include: Include; rowsExpected: number },
  ): Generator<ObjectRow> {
    let bound = from;
    for (let run = rowsExpected; ; run = Math.min(run * 4, rowsRunMax)) {
      const rows = this.#run(bound, end, include, run);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < run) return;
      bound = { key: last.key, inclusive: false };
    }
  }

  #run(from: Bound, end: string | null, include: Include, limit: number): ObjectRow[] {
    const query =
      `SELECT key, json_array(key, version, size, etag, uploaded, json(checksums), storage_class, ` +
      `${include.http ? "json(http)" : "NULL"}, ${include.custom ? "json(custom)" : "NULL"}) ` +
      `FROM objects WHERE key ${from.inclusive ? ">=" : ">"} ? ` +
      `${end === null ? "" : "AND key < ? "}ORDER BY key LIMIT ?`;
    const bindings = end === null ? [from.key, limit] : [from.key, end, limit];
    return Array.from(
      this.#sql.exec(query, ...bindings).raw<[string, string]>(),
      ([key, json]) => ({ key, json, weight: json.length }),
    );
  }

  stats(): { objects: number; bytes: number } {
    const [objects, bytes] = onlyRow<[number, number]>(
      this.#sql.exec("SELECT count(*), coalesce(sum(size), 0) FROM objects"),
    );
    return { objects, bytes };
  }
}

function storedObject(key: string, row: Columns): StoredObject {
  const [version, size, etag, uploaded, checksums, storageClass, http, custom, segments] = row;
  return {
    record: {
      key,
      version,
      size,
      etag,
      uploaded,
      checksums: JSON.parse(checksums),
      storageClass,
      http: JSON.parse(http),
      custom: JSON.parse(custom),
    },
    segments: decodeSegments(segments),
  };
}

export interface Include {
  readonly http: boolean;
  readonly custom: boolean;
}
