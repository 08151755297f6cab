/**
 * Listing: one page of a bucket in key order.
 *
 * The rules do not depend on the storage of the rows. A `ScanRows` function scans rows in UTF-8
 * key order from a bound. When a key rolls up into a delimited prefix, a new scan begins after all
 * keys with this prefix. So the cost of a page depends on the items of the page, and not on the
 * size of the bucket or of a folder.
 */
import { encodeCursor, type Position } from "./cursor.ts";
import { StoreError } from "./errors.ts";
import { compareKeys, prefixEnd } from "./key.ts";
import { listLimitMax } from "./limits.ts";

export interface ListQuery {
  readonly prefix: string;
  /** Empty: no delimiter */
  readonly delimiter: string;
  readonly startAfter?: string;
  readonly after?: Position;
  readonly limit: number;
  /** The largest total weight of the rows of a page. A page always takes its first row. */
  readonly weightMax: number;
}

export interface Bound {
  readonly key: string;
  readonly inclusive: boolean;
}

export interface ListedRow {
  readonly key: string;
  readonly weight: number;
}

/**
 * Scans rows at or after `from` and before `end` (`null`: to the last row), in key order. The scan
 * is lazy: the caller may read more than `rowsExpected` rows, and may stop before.
 */
export type ScanRows<Row extends ListedRow> = (
  bounds: { from: Bound; end: string | null },
  rowsExpected: number,
) => Iterable<Row>;

export interface ListedPage<Row> {
  readonly rows: Row[];
  /** Rolled-up prefixes, each ending in the delimiter. */
  readonly prefixes: string[];
  /** The end of this page; absent on the last page. */
  readonly cursor?: string;
}

/** Consecutive rows that SQLite has already written as JSON. */
export interface ListedRun {
  /** The rows, separated by commas. */
  readonly json: string;
  readonly count: number;
  /** `null` without rows */
  readonly lastKey: string | null;
  readonly weight: number;
}

/** Reads at most `limit` rows as one run; `null` when the run would be too large. */
export type ReadRun = (
  bounds: { from: Bound; end: string | null },
  limit: number,
) => ListedRun | null;

/**
 * A page without a delimiter, read as one run of rows.
 *
 * @returns `null` when the page needs `listPage`, which looks at each row
 */
export function listRun(
  query: ListQuery,
  readRun: ReadRun,
  scan: ScanRows<ListedRow>,
): { readonly json: string; readonly cursor?: string } | null {
  const from = firstBound(query);
  if (query.delimiter !== "" || from === null) return null;
  const end = prefixEnd(query.prefix);
  const run = readRun({ from, end }, query.limit);
  if (run === null || run.weight > query.weightMax) return null;
  const { json, count, lastKey } = run;
  if (count < query.limit || lastKey === null) return { json };
  const after = { from: { key: lastKey, inclusive: false }, end };
  for (const _ of scan(after, 1)) {
    return { json, cursor: encodeCursor({ kind: "key", text: lastKey }) };
  }
  return { json };
}

/** @throws StoreError 10022 */
export function validateLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax) throw new StoreError(10022);
}

export function listPage<Row extends ListedRow>(
  query: ListQuery,
  scan: ScanRows<Row>,
): ListedPage<Row> {
  const { prefix, delimiter, limit, weightMax } = query;
  const end = prefixEnd(prefix);
  const rows: Row[] = [];
  const prefixes: string[] = [];
  let last: Position | undefined;
  let weight = 0;

  // With a delimiter, most rows roll up, and each roll-up begins a new scan.
  const rowsExpected = delimiter === "" ? limit + 1 : 1;
  let from = firstBound(query);
  while (from !== null) {
    let jump: Bound | null = null;
    for (const row of scan({ from, end }, rowsExpected)) {
      const rolledUp = rollUp(row.key, prefix, delimiter);
      const full = rows.length + prefixes.length === limit || weight + row.weight > weightMax;
      if (full && last !== undefined) return { rows, prefixes, cursor: encodeCursor(last) };

      if (rolledUp === null) {
        rows.push(row);
        weight += row.weight;
        last = { kind: "key", text: row.key };
      } else {
        prefixes.push(rolledUp);
        last = { kind: "prefix", text: rolledUp };
        jump = afterPosition(last);
        break;
      }
    }
    from = jump;
  }
  return { rows, prefixes };
}

/**
 * A rolled-up prefix as the caller sees it.
 *
 * Deviation: without `trailingDelimiter`, the prefix ends before its delimiter (`foo`), as in the
 * example of the specification. Deployed services keep the delimiter (`foo/`).
 */
export function presentPrefix(
  rolledUp: string,
  delimiter: string,
  trailingDelimiter: boolean,
): string {
  return trailingDelimiter ? rolledUp : rolledUp.slice(0, -delimiter.length);
}

/** The part of `key` up to and with the first delimiter after the prefix, or `null`. */
export function rollUp(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === "") return null;
  const index = key.indexOf(delimiter, prefix.length);
  return index === -1 ? null : key.slice(0, index + delimiter.length);
}

/** The lower bound of the keys of the page, or `null` when the page is empty. */
export function firstBound({
  prefix,
  startAfter,
  after,
}: Pick<ListQuery, "prefix" | "startAfter" | "after">): Bound | null {
  let bound: Bound = { key: prefix, inclusive: true };
  if (startAfter !== undefined) bound = laterBound(bound, { key: startAfter, inclusive: false });
  if (after === undefined) return bound;
  const resumed = afterPosition(after);
  return resumed === null ? null : laterBound(bound, resumed);
}

/** `null` when no key follows. */
export function afterPosition(position: Position): Bound | null {
  if (position.kind === "key") return { key: position.text, inclusive: false };
  const key = prefixEnd(position.text);
  return key === null ? null : { key, inclusive: true };
}

function laterBound(left: Bound, right: Bound): Bound {
  const order = compareKeys(left.key, right.key);
  if (order === 0) return left.inclusive ? right : left;
  return order < 0 ? right : left;
}
