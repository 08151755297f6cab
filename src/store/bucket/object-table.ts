/**
 * The table of the objects of a bucket, by key.
 *
 * Every row that is read is verified (`core/row-seal.ts`), and a damaged row is an error that names
 * its key. `hasUnsealedRows`: rows that an earlier version wrote have no checksum and are accepted.
 */
import type { Bound, ListedRow, ListedRun } from "../core/list-page.ts";
import { listLimitMax } from "../core/limits.ts";
import { includedMetadata, joinEncoded, type Include } from "../core/object.ts";
import type { EncodedObject, Request, Result } from "../core/operations.ts";
import { decodeSegments, encodeSegments, type Segment } from "../core/content.ts";
import { isSameChecksum } from "../core/row-checksum.ts";
import { bodyDamage, bodyMissing, damagedRow, itemText, rowDamage } from "../core/row-seal.ts";
import { isBodyId } from "./contents.ts";
import { firstRow, onlyRow, seals } from "./schema.ts";

/** Where the content of an object is: the id of one body, or segments. */
export type ContentLocation = number | readonly Segment[];

/** An object to store. */
export interface ObjectRow {
  readonly key: string;
  readonly fields: string;
  readonly metadata: string | null;
  readonly location: ContentLocation;
  /** The end of the body, if it is not in the row of the body (`core/content.ts`). */
  readonly tail: Uint8Array | null;
  /** The body with its tail, if the content is one body. */
  readonly bytes: Uint8Array | null;
}

export interface StoredObject {
  readonly text: EncodedObject;
  readonly location: ContentLocation;
  /** The content, if it is one body: then the query for the row returns it. */
  readonly bytes: ArrayBuffer | null;
}

/** A row of a listing, as text (`core/object.ts`). */
export interface RowText extends ListedRow {
  readonly json: string;
}

/** The most rows that one query of `scan` reads. */
const rowsRunMax = listLimitMax + 1;

export class ObjectTable {
  readonly #sql: SqlStorage;
  readonly #hasUnsealedRows: boolean;

  constructor(sql: SqlStorage, hasUnsealedRows: boolean) {
    this.#sql = sql;
    this.#hasUnsealedRows = hasUnsealedRows;
  }

  // SQLite returns the name of a column with every query, so the names are short.
  /** @throws StoreError 10001 for a damaged row */
  text(key: string): EncodedObject | null {
    const row = firstRow<TextColumns>(
      this.#sql.exec(
        "SELECT fields AS f, metadata AS m, checksum AS s FROM objects WHERE key = ?",
        key,
      ),
    );
    return row === undefined ? null : this.#verifiedText(key, row);
  }

  /** @throws StoreError 10001 for a damaged row or body */
  find(key: string): StoredObject | null {
    const row = firstRow<
      [...TextColumns, number | null, ArrayBuffer | null, ArrayBuffer | null, ...LocationColumns]
    >(
      this.#sql.exec(
        "SELECT fields AS f, metadata AS m, checksum AS s, content_checksum AS c, " +
          "bytes AS b, tail AS e, body AS i, segments AS g FROM objects " +
          "LEFT JOIN bodies ON bodies.id = body WHERE key = ?",
        key,
      ),
    );
    if (row === undefined) return null;
    const [fields, metadata, checksum, contentChecksum, body, tail, ...location] = row;
    const text = this.#verifiedText(key, [fields, metadata, checksum]);
    const [bodyId, segments] = location;
    if (bodyId !== null && body === null) throw damagedRow(key, bodyMissing);
    const bytes = body !== null && tail !== null ? joinBuffers(body, tail) : body;
    const content = bytes ?? segments;
    if (content === null) throw damagedRow(key, rowDamage);
    const isIntact =
      contentChecksum === null
        ? this.#hasUnsealedRows
        : seals.isContentIntact(content, contentChecksum, bodyId);
    if (!isIntact) {
      throw damagedRow(key, bytes === null ? rowDamage : bodyDamage);
    }
    return { text, location: locationOf(location), bytes };
  }

  #verifiedText(key: string, [fields, metadata, checksum]: TextColumns): EncodedObject {
    this.#verify(key, itemText(key, fields), metadata, checksum);
    return joinEncoded(fields, metadata);
  }

  #verify(key: string, item: string, metadata: string | null, checksum: number | null): void {
    const isIntact =
      checksum === null ? this.#hasUnsealedRows : seals.isItemIntact(item, metadata, checksum);
    if (!isIntact) throw damagedRow(key, rowDamage);
  }

  /** Stores an object if its key does not exist. Returns whether it did. */
  insert(row: ObjectRow): boolean {
    // `rowsWritten` of the cursor would count the rows that triggers write.
    const inserted = this.#sql.exec(
      "INSERT INTO objects (fields, metadata, body, tail, segments, item_checksum, " +
        "content_checksum, checksum, key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT DO NOTHING RETURNING 1",
      ...columnsOf(row),
    );
    return inserted.toArray().length > 0;
  }

  /** Overwrites the object with the same key. */
  update(row: ObjectRow): void {
    this.#sql.exec(
      "UPDATE objects SET fields = ?, metadata = ?, body = ?, tail = ?, segments = ?, " +
        "item_checksum = ?, content_checksum = ?, checksum = ? WHERE key = ?",
      ...columnsOf(row),
    );
  }

  /**
   * Where the content of an object is; `null` if the object does not exist. A damaged row has no
   * content: the places that it names may be those of another object.
   */
  location(key: string): ContentLocation | null {
    const row = firstRow<ReferenceColumn>(
      this.#sql.exec(`SELECT ${referenceColumn} FROM objects WHERE key = ?`, key),
    );
    return row === undefined ? null : this.#verifiedLocation(row);
  }

  /** Removes objects. Returns where their content is. */
  remove(keys: readonly string[]): ContentLocation[] {
    const [first, second] = keys;
    const rows =
      second === undefined
        ? this.#sql.exec(`DELETE FROM objects WHERE key = ? RETURNING ${referenceColumn}`, first)
        : this.#sql.exec(
            "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) " +
              `RETURNING ${referenceColumn}`,
            JSON.stringify(keys),
          );
    return Array.from(rows.raw<ReferenceColumn>(), (row) => this.#verifiedLocation(row));
  }

  #verifiedLocation([reference]: ReferenceColumn): ContentLocation {
    if (typeof reference === "number") {
      if (isBodyId(reference) || this.#hasUnsealedRows) return reference;
    } else if (reference !== null) {
      const start = reference.indexOf("[");
      const segments = reference.slice(start);
      const isIntact =
        start === 0
          ? this.#hasUnsealedRows
          : seals.isContentIntact(segments, Number(reference.slice(0, start)));
      if (isIntact) return decodeSegments(segments);
    }
    console.warn("The row of an object is damaged. The content that it names stays in the store.");
    return [];
  }

  /**
   * Up to `limit` rows in key order, concatenated by SQLite: returning a row costs more than
   * reading it. `null` when the text is longer than the longest value of SQLite.
   */
  run({ from, end }: Bounds, include: Include, limit: number): ListedRun | null {
    // Neither half of the metadata has a checksum of its own: the caller leaves the other one out.
    const items = include.http || include.custom ? wholeItems : itemsWithoutMetadata;
    const query =
      "SELECT coalesce(group_concat(t), '') AS j, count(*) AS n, coalesce(sum(s), 0) AS s " +
      `FROM (SELECT ${items.text(this.#hasUnsealedRows)} AS t, ${items.checksum} AS s ` +
      `${inBounds(from, end)})`;
    try {
      const [json, count, sum] = onlyRow<[string, number, number]>(
        this.#sql.exec(query, ...boundValues(from, end), limit),
      );
      // `scan` reads each row by itself, and names the damaged one.
      if (!isSameChecksum(seals.sumPieces(json, items.gaps), sum)) return null;
      const others = count * items.gaps.length + Math.max(count - 1, 0);
      return { json, count, lastKey: items.lastKey(json), weight: json.length - others };
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
    const columns =
      include.http || include.custom ? "checksum AS s, metadata AS m" : "item_checksum AS s";
    const query = `SELECT key AS k, fields AS f, ${columns} ${inBounds(from, end)}`;
    const rows = this.#sql
      .exec(query, ...boundValues(from, end), limit)
      .raw<[string, string, number | null, ...(string | null)[]]>();
    return Array.from(rows, ([key, fields, checksum, metadata = null]) => {
      const text = itemText(key, fields);
      this.#verify(key, text, metadata, checksum);
      const json = `[${text},${includedMetadata(metadata, include)}]`;
      return { key, json, weight: json.length };
    });
  }

  hasObjects(): boolean {
    return firstRow(this.#sql.exec("SELECT 1 FROM objects LIMIT 1")) !== undefined;
  }

  stats({ after, limit }: Request<"stats">): Pick<Result<"stats">, "objects" | "bytes" | "next"> {
    const bound = after === undefined ? "" : "WHERE key > ?";
    const [objects, bytes, last] = onlyRow<[number, number, string | null]>(
      this.#sql.exec(
        `SELECT count(*), coalesce(sum(size), 0), max(key)
         FROM (SELECT key, fields ->> '$[1]' AS size FROM objects ${bound} ORDER BY key LIMIT ?)`,
        ...(after === undefined ? [] : [after]),
        limit ?? -1,
      ),
    );
    return { objects, bytes, ...(objects === limit && last !== null && { next: last }) };
  }
}

type TextColumns = [fields: string, metadata: string | null, seal: number | null];

interface Bounds {
  readonly from: Bound;
  readonly end: string | null;
}

/**
 * The items of a page: `[key,fields,metadata]`. A newline ends each piece that has a checksum, and
 * a space marks a row without one (`TextChecksums.sumPieces`); JSON allows both.
 */
const itemsWithoutMetadata = {
  text: (hasUnsealedRows: boolean) => `'[' ||${mark(hasUnsealedRows)} ${item} || '\n,null]'`,
  checksum: "item_checksum",
  gaps: ["\n,null],[".length],
  lastKey: (json: string) => lastKey(json, json.lastIndexOf("\n"), "\n,null],".length),
};
const wholeItems = {
  text: (hasUnsealedRows: boolean) =>
    `'[' ||${mark(hasUnsealedRows)} ${item} || '\n,' ||${mark(hasUnsealedRows)} ` +
    "coalesce(metadata, 'null') || '\n]'",
  checksum: "checksum",
  gaps: ["\n,".length, "\n],[".length],
  lastKey: (json: string) =>
    lastKey(json, json.lastIndexOf("\n", json.length - "\n]".length - 1), "\n],".length),
};

/**
 * The key of the last item, which is cheaper than an aggregate of SQLite.
 *
 * @param pieceEnd the end of the item's first piece
 * @param gap from the end of the item before to the item
 */
function lastKey(json: string, pieceEnd: number, gap: number): string | null {
  if (json === "") return null;
  const before = json.lastIndexOf("\n", pieceEnd - 1);
  const [key] = JSON.parse(json.slice(before === -1 ? 0 : before + gap)) as [string];
  return key;
}

/** `itemText()`, written by SQLite. */
const item = "json_quote(key) || ',' || fields";

function mark(hasUnsealedRows: boolean): string {
  return hasUnsealedRows ? " iif(checksum IS NULL, ' ', '') ||" : "";
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

/** The id of the body, or the checksum of the segments and the segments. One column costs less. */
const referenceColumn =
  "iif(segments IS NULL, body, coalesce(content_checksum, '') || segments) AS r";
type ReferenceColumn = [number | string | null];

type LocationColumns = [body: number | null, segments: string | null];

/** In the order of `insert` and `update`. */
function columnsOf({ key, fields, metadata, location, tail, bytes }: ObjectRow) {
  const body = typeof location === "number" ? location : null;
  const segments = typeof location === "number" ? null : encodeSegments(location);
  const { itemChecksum, contentChecksum, checksum } = seals.sealObject({
    key,
    fields,
    metadata,
    body,
    content: segments ?? (bytes as Uint8Array),
  });
  return [fields, metadata, body, tail, segments, itemChecksum, contentChecksum, checksum, key];
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
