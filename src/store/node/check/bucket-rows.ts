/**
 * The rows of a bucket's database, as a check reads them: each read is short, so that the log of a
 * database that is written to all the time can be reset meanwhile.
 *
 * Integers are read as text: a damaged one may be larger than a number of JavaScript.
 */
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";

/** A row of `objects`, and of its body. */
export interface CheckedRow {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly body: number | null;
  readonly bytes: Uint8Array | null;
  readonly tail: Uint8Array | null;
  readonly segments: string | null;
}

export interface CheckedUpload {
  readonly uploadId: string;
  readonly key: string;
}

export interface CheckedPart {
  readonly partNumber: number;
  readonly size: number;
  readonly etag: string;
  readonly place: number | string;
}

/** A body has at most 128 KiB, so a page of rows has at most 8 MiB. */
const rowsMax = 64;

const references =
  "SELECT value ->> 1 AS place FROM objects, json_each(segments) " +
  "WHERE segments IS NOT NULL AND json_valid(segments) UNION ALL SELECT place FROM parts";

export class BucketRows {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The format; 0 for a database that does not say it. */
  readonly version: number;
  readonly databaseId: string | null;

  /** @throws Error of SQLite, also for a database without the tables of a bucket */
  constructor(database: DatabaseSync) {
    this.#database = database;
    const hasFormat = this.#all("SELECT 1 FROM sqlite_master WHERE name = 'format'").length > 0;
    const [format] = hasFormat ? this.#all("SELECT * FROM format") : [];
    this.version = Number(format?.["version"] ?? 0);
    this.databaseId = (format?.["database_id"] as string | undefined) ?? null;
  }

  close(): void {
    this.#database.close();
  }

  /** Objects after a key, or before it from the last one. */
  objects(from: { after: string | null } | { before: string | null }): CheckedRow[] {
    const isForward = "after" in from;
    const key = isForward ? from.after : from.before;
    const bound = key === null ? "" : `WHERE key ${isForward ? ">" : "<"} ?`;
    const order = isForward ? "" : "DESC";
    const query = `${objectQuery} ${bound} ORDER BY key ${order} LIMIT ${rowsMax}`;
    const page = this.#all(query, ...(key === null ? [] : [key])).map(objectRow);
    requireProgress(key, page.at(-1)?.key, isForward ? 1 : -1);
    return page;
  }

  object(key: string): CheckedRow | null {
    const [row] = this.#all(`${objectQuery} WHERE key = ?`, key);
    return row === undefined ? null : objectRow(row);
  }

  body(id: number): Uint8Array | null {
    const [row] = this.#all("SELECT bytes FROM bodies WHERE id = ?", id);
    return (row?.["bytes"] as Uint8Array | undefined) ?? null;
  }

  uploads(after: string): CheckedUpload[] {
    const query =
      "SELECT upload_id AS uploadId, key FROM uploads " +
      `WHERE state = 'in progress' AND upload_id > ? ORDER BY upload_id LIMIT ${rowsMax}`;
    const page = this.#all(query, after) as unknown as CheckedUpload[];
    requireProgress(after, page.at(-1)?.uploadId, 1);
    return page;
  }

  parts(uploadId: string, after: number): CheckedPart[] {
    const query =
      "SELECT part_number AS partNumber, CAST(size AS TEXT) AS size, etag, place FROM parts " +
      `WHERE upload_id = ? AND part_number > ? ORDER BY part_number LIMIT ${rowsMax}`;
    const page = this.#all(query, uploadId, after).map(
      (row) => ({ ...row, size: Number(row["size"]) }) as unknown as CheckedPart,
    );
    requireProgress(after, page.at(-1)?.partNumber, 1);
    return page;
  }

  countObjects(): number {
    return Number(this.#all("SELECT count(*) AS count FROM objects")[0]?.["count"]);
  }

  /** The files that objects or parts name, and that are not in the table of the files. */
  filesWithoutEntry(): string[] {
    return this.#places(
      `SELECT place FROM (${references}) WHERE typeof(place) = 'text' ` +
        "AND place NOT IN (SELECT name FROM blobs)",
    );
  }

  /** The files in the table of the files that no object and no part names. */
  entriesWithoutReference(): string[] {
    return this.#places(
      `SELECT name AS place FROM blobs WHERE name NOT IN ` +
        `(SELECT place FROM (${references}) WHERE place IS NOT NULL)`,
    );
  }

  countBodiesWithoutReference(): number {
    const [row] = this.#all(
      "SELECT count(*) AS count FROM bodies WHERE id NOT IN (" +
        "SELECT body FROM objects WHERE body IS NOT NULL UNION ALL " +
        `SELECT place FROM (${references}) WHERE place IS NOT NULL)`,
    );
    return Number(row?.["count"]);
  }

  /** Those of the files that are not in the table of the files. */
  unnamed(fileNames: readonly string[]): string[] {
    const isNamed = this.#prepared("SELECT 1 FROM blobs WHERE name = ?");
    return fileNames.filter((name) => isNamed.get(name) === undefined);
  }

  #places(query: string): string[] {
    return this.#all(query).map(({ place }) => String(place));
  }

  #all(query: string, ...values: (string | number)[]): Record<string, SQLOutputValue>[] {
    return this.#prepared(query).all(...values);
  }

  #prepared(query: string): StatementSync {
    let statement = this.#statements.get(query);
    if (statement === undefined) {
      statement = this.#database.prepare(query);
      this.#statements.set(query, statement);
    }
    return statement;
  }
}

/**
 * A page must end beyond the row after which it begins. SQLite returns a damaged key where the key
 * was stored, so that the page that begins after the damaged key can be the same page again.
 *
 * @throws Error if the page ends where it begins, or before
 */
function requireProgress<Key extends string | number>(
  from: Key | null,
  last: Key | undefined,
  direction: 1 | -1,
): void {
  if (from === null || last === undefined) return;
  const order =
    typeof last === "number"
      ? last - Number(from)
      : Buffer.compare(Buffer.from(last), Buffer.from(`${from}`));
  if (order * direction <= 0) throw new Error(`the row of "${last}" is not in its place`);
}

const objectQuery =
  "SELECT key, fields, metadata, CAST(body AS TEXT) AS body, bytes, tail, segments " +
  "FROM objects LEFT JOIN bodies ON bodies.id = body";

function objectRow(row: Record<string, SQLOutputValue>): CheckedRow {
  return {
    ...row,
    body: row["body"] === null ? null : Number(row["body"]),
  } as unknown as CheckedRow;
}
