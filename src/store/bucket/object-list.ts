/**
 * The listing of a bucket's objects, and their count, in SQL.
 *
 * SQLite writes the rows of a page as one JSON text, because returning a row costs more than reading
 * it. A page that needs a look at each row (a delimiter, a limit of bytes) is read row by row.
 */
import { listLimitMax, listPageBytesMax } from "../core/limits.ts";
import { prefixEnd } from "../core/key.ts";
import {
  decodeCursor,
  encodeCursor,
  firstBound,
  listPage,
  type Bound,
  type ListedRow,
  type ListQuery,
} from "../core/list-page.ts";
import { includedMetadata, itemText, type Include } from "../core/object.ts";
import type { Request, Result } from "../core/operations.ts";
import { firstRow, onlyRow } from "./schema.ts";

interface RowText extends ListedRow {
  readonly json: string;
}

interface Bounds {
  readonly from: Bound;
  readonly end: string | null;
}

/** The most rows that one query of `scan` reads. */
const rowsRunMax = listLimitMax + 1;

export function listObjects(sql: SqlStorage, request: Request<"list">): Result<"list"> {
  const { cursor, includeHttp, includeCustom } = request;
  const include = { http: includeHttp, custom: includeCustom };
  const query: ListQuery = {
    ...request,
    after: cursor === undefined ? undefined : decodeCursor(cursor),
    weightMax: includeHttp || includeCustom ? listPageBytesMax : Infinity,
  };
  const run = query.delimiter === "" ? readRun(sql, query, include) : null;
  if (run !== null) return run;
  const scan = (bounds: Bounds, rowsExpected: number) =>
    scanRows(sql, bounds, include, rowsExpected);
  const { rows, ...rest } = listPage(query, scan);
  return { objectsJson: `[${rows.map((row) => row.json).join(",")}]`, ...rest };
}

/**
 * A page without a delimiter, concatenated by SQLite. `null` when the page is too heavy, or its text
 * is longer than the longest value of SQLite: then the page needs a look at each row.
 */
function readRun(sql: SqlStorage, query: ListQuery, include: Include): Result<"list"> | null {
  const from = firstBound(query);
  if (from === null) return null;
  const end = prefixEnd(query.prefix);
  // The caller leaves out the half of the metadata that is not included.
  const metadata = include.http || include.custom ? "coalesce(metadata, 'null')" : "'null'";
  const item = `'[' || json_quote(key) || ',' || fields || ',' || ${metadata} || ']'`;
  const statement =
    `SELECT coalesce(group_concat(t, '${separator}'), '') AS j, count(*) AS n ` +
    `FROM (SELECT ${item} AS t ${inBounds(from, end)})`;
  try {
    // One row more than the page has tells whether another page follows.
    const [text, count] = onlyRow<[string, number]>(
      sql.exec(statement, ...boundValues(from, end), query.limit + 1),
    );
    const hasNext = count > query.limit;
    const json = hasNext ? text.slice(0, text.lastIndexOf(separator)) : text;
    const separators = Math.max(Math.min(count, query.limit) - 1, 0);
    if (json.length - separator.length * separators > query.weightMax) return null;
    const page = { objectsJson: `[${json}]`, prefixes: [] };
    if (!hasNext) return page;
    // The key of the last item, which is cheaper than an aggregate of SQLite.
    const [key] = JSON.parse(json.slice(json.lastIndexOf("\n") + 1)) as [string];
    return { ...page, cursor: encodeCursor({ kind: "key", text: key }) };
  } catch (error) {
    if (error instanceof Error && error.message.includes("too big")) return null;
    throw error;
  }
}

/** JSON allows a newline between two items, and a text inside of JSON has none. */
const separator = ",\n";

/**
 * Rows in key order, read as the caller iterates.
 *
 * A query that is not read to its end keeps its statement busy, and SQLite prepares another for
 * the next query, which costs more than reading rows. So rows are read in runs, each to its end:
 * the first run has as many rows as the caller expects to need, and each later run has more.
 */
function* scanRows(
  sql: SqlStorage,
  { from, end }: Bounds,
  include: Include,
  rowsExpected: number,
): Generator<RowText> {
  const metadataColumn = include.http || include.custom ? "metadata" : "NULL";
  let bound = from;
  for (let run = rowsExpected; ; run = Math.min(run * 4, rowsRunMax)) {
    const query = `SELECT key AS k, fields AS f, ${metadataColumn} AS m ${inBounds(bound, end)}`;
    const rows = sql.exec(query, ...boundValues(bound, end), run).raw<RowColumns>();
    const read = Array.from(rows, ([key, fields, metadata]) => {
      const json = `[${itemText(key, fields)},${includedMetadata(metadata, include)}]`;
      return { key, json, weight: json.length };
    });
    yield* read;
    const last = read.at(-1);
    if (last === undefined || read.length < run) return;
    bound = { key: last.key, inclusive: false };
  }
}

type RowColumns = [key: string, fields: string, metadata: string | null];

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

export function hasObjects(sql: SqlStorage): boolean {
  return firstRow(sql.exec("SELECT 1 FROM objects LIMIT 1")) !== undefined;
}

export function countObjects(
  sql: SqlStorage,
  { after, limit }: Request<"stats">,
): Pick<Result<"stats">, "objects" | "bytes" | "next"> {
  const bound = after === undefined ? "" : "WHERE key > ?";
  const [objects, bytes, last] = onlyRow<[number, number, string | null]>(
    sql.exec(
      `SELECT count(*), coalesce(sum(size), 0), max(key)
       FROM (SELECT key, fields ->> '$[1]' AS size FROM objects ${bound} ORDER BY key LIMIT ?)`,
      ...(after === undefined ? [] : [after]),
      limit ?? -1,
    ),
  );
  return { objects, bytes, ...(objects === limit && last !== null && { next: last }) };
}
