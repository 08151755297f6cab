/**
 * Listing: one page of a bucket in key order.
 *
 * The rules know nothing of where the keys come from. A source scans rows in UTF-8 key order
 * from a bound; a page asks it for as many rows as it needs and, when it meets a key that rolls
 * up into a delimited prefix, jumps behind the whole prefix with a new scan. So the cost of a
 * page depends on what is on it, not on the size of the bucket or of a folder.
 */
import { encodeCursor, type Position } from "./cursor.ts";
import { compareKeys, prefixEnd } from "./key.ts";

export interface ListQuery {
  readonly prefix: string;
  /** Empty: none */
  readonly delimiter: string;
  readonly startAfter?: string;
  readonly after?: Position;
  readonly limit: number;
  /** How much the rows of a page may weigh together. One row is always let through. */
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
 * Scans rows at or after `from` and before `end` (`null`: to the end), in key order, lazily. More
 * than `rowsExpected` may be needed, but need not be read before they are.
 */
export type ScanRows<Row extends ListedRow> = (
  bounds: { from: Bound; end: string | null },
  rowsExpected: number,
) => Iterable<Row>;

export interface ListedPage<Row> {
  readonly rows: Row[];
  /** Rolled-up prefixes, each ending in the delimiter. */
  readonly prefixes: string[];
  /** Where the next page begins; absent on the last. */
  readonly cursor?: string;
}

/** Rows that were put together by whoever read them. */
export interface ListedRun {
  /** The rows, separated by commas. */
  readonly json: string;
  readonly count: number;
  /** `null` without rows */
  readonly lastKey: string | null;
  readonly weight: number;
}

/** Reads at most `limit` rows at once; `null` when they are too much for that. */
export type ReadRun = (
  bounds: { from: Bound; end: string | null },
  limit: number,
) => ListedRun | null;

/**
 * A page without a delimiter, as one run of rows.
 *
 * @returns `null` when the rows must be looked at one by one after all: for `listPage`
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
  const behind = { from: { key: lastKey, inclusive: false }, end };
  for (const _ of scan(behind, 1)) {
    return { json, cursor: encodeCursor({ kind: "key", text: lastKey }) };
  }
  return { json };
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

  // Behind a delimited prefix comes, most of the time, another.
  const rowsExpected = delimiter === "" ? limit + 1 : 1;
  let from = firstBound(query);
  scanning: while (from !== null) {
    let jump: Bound | null = null;
    for (const row of scan({ from, end }, rowsExpected)) {
      const rolledUp = rollUp(row.key, prefix, delimiter);
      const full =
        rows.length + prefixes.length === limit ||
        (last !== undefined && weight + row.weight > weightMax);
      if (full && last !== undefined) return { rows, prefixes, cursor: encodeCursor(last) };

      if (rolledUp === null) {
        rows.push(row);
        weight += row.weight;
        last = { kind: "key", text: row.key };
      } else {
        prefixes.push(rolledUp);
        last = { kind: "prefix", text: rolledUp };
        jump = afterPosition(last);
        if (jump === null) break scanning;
        break;
      }
    }
    from = jump;
  }
  return { rows, prefixes };
}

/**
 * The form of a rolled-up prefix that the caller sees.
 *
 * Deviation: the specification's example drops the delimiter at the end (`foo`), and so do we;
 * deployed services keep it (`foo/`).
 */
export function presentPrefix(
  rolledUp: string,
  delimiter: string,
  trailingDelimiter: boolean,
): string {
  return trailingDelimiter ? rolledUp : rolledUp.slice(0, -delimiter.length);
}

/** The part of `key` up to the first delimiter behind the prefix, or `null` without one. */
function rollUp(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === "") return null;
  const index = key.indexOf(delimiter, prefix.length);
  return index === -1 ? null : key.slice(0, index + delimiter.length);
}

/** The first key that may be on the page, or `null` when none can be. */
function firstBound({ prefix, startAfter, after }: ListQuery): Bound | null {
  let bound: Bound = { key: prefix, inclusive: true };
  if (startAfter !== undefined) bound = laterBound(bound, { key: startAfter, inclusive: false });
  if (after === undefined) return bound;
  const resumed = afterPosition(after);
  return resumed === null ? null : laterBound(bound, resumed);
}

function afterPosition(position: Position): Bound | null {
  if (position.kind === "key") return { key: position.text, inclusive: false };
  const key = prefixEnd(position.text);
  return key === null ? null : { key, inclusive: true };
}

function laterBound(left: Bound, right: Bound): Bound {
  const order = compareKeys(left.key, right.key);
  if (order === 0) return left.inclusive ? right : left;
  return order < 0 ? right : left;
}
