/**
 * Listing: one page of a bucket in key order.
 *
 * The rules do not depend on the storage of the rows. A `ScanRows` function scans rows in UTF-8
 * key order from a bound. When a key rolls up into a delimited prefix, a new scan begins after all
 * keys with this prefix. So the cost of a page depends on the items of the page, and not on the
 * size of the bucket or of a folder.
 */
import { StoreError } from "./errors.ts";
import { compareKeys, prefixEnd } from "./key.ts";
import { listLimitMax } from "./limits.ts";
import type { Request, Result, UploadPosition, UploadRecord } from "./operations.ts";

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

/** Where a scan of uploads begins: at a key, after all uploads of a key, or after an upload. */
export interface UploadBound extends UploadPosition {
  readonly inclusive: boolean;
}

/** Scans the uploads in progress from a bound, up to a key (`null`: to the last). */
export type ScanUploads = (bounds: {
  from: UploadBound;
  end: string | null;
}) => Iterable<UploadRecord>;

export function validateLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax) throw new StoreError(10022);
}

export function listPage<Row extends ListedRow>(
  query: ListQuery,
  scan: ScanRows<Row>,
): { rows: Row[]; prefixes: string[]; cursor?: string } {
  // With a delimiter, most rows roll up, and each roll-up begins a new scan.
  const rowsExpected = query.delimiter === "" ? query.limit + 1 : 1;
  const page = collectPage(query, firstBound(query), (bounds) => scan(bounds, rowsExpected));
  const { rows, prefixes, last } = page;
  if (last === undefined) return { rows, prefixes };
  const position: Position =
    typeof last === "string" ? { kind: "prefix", text: last } : { kind: "key", text: last.key };
  return { rows, prefixes, cursor: encodeCursor(position) };
}

/**
 * Listing of uploads: one page of the uploads in progress, in order of key and then of age. A key can
 * have several uploads, so the position of a page's end is a key and an upload; after a prefix it is
 * the prefix alone.
 */
export function uploadPage(
  { prefix, delimiter = "", after, limit }: Omit<Request<"listUploads">, "method">,
  scan: ScanUploads,
): Result<"listUploads"> {
  const query = { prefix, delimiter, limit, weightMax: Infinity };
  const page = collectPage(query, firstUploadBound(prefix, delimiter, after), scan);
  const { rows: uploads, prefixes, last } = page;
  if (last === undefined) return { uploads, prefixes, truncated: false };
  const next =
    typeof last === "string" ? { key: last } : { key: last.key, uploadId: last.uploadId };
  return { uploads, prefixes, truncated: true, next };
}

/** @returns `last`, the row or the rolled-up prefix at which the page ends, only if more follow */
function collectPage<Row extends { readonly key: string; readonly weight?: number }>(
  { prefix, delimiter, limit, weightMax }: ListQuery,
  first: UploadBound | null,
  scan: (bounds: { from: UploadBound; end: string | null }) => Iterable<Row>,
): { rows: Row[]; prefixes: string[]; last?: Row | string } {
  const end = prefixEnd(prefix);
  const rows: Row[] = [];
  const prefixes: string[] = [];
  let last: Row | string | undefined;
  let weight = 0;
  let from = first;
  while (from !== null) {
    let jump: Bound | null = null;
    for (const row of scan({ from, end })) {
      const { key, weight: added = 0 } = row;
      const isFull = rows.length + prefixes.length === limit || weight + added > weightMax;
      if (isFull && last !== undefined) return { rows, prefixes, last };
      const rolledUp = rollUp(key, prefix, delimiter);
      if (rolledUp === null) {
        rows.push(row);
        weight += added;
        last = row;
      } else {
        prefixes.push(rolledUp);
        last = rolledUp;
        jump = afterPosition({ kind: "prefix", text: rolledUp });
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

/** `null` when no upload follows. */
function firstUploadBound(
  prefix: string,
  delimiter: string,
  after: UploadPosition | undefined,
): UploadBound | null {
  const start = { key: prefix, inclusive: true };
  if (after === undefined || compareKeys(after.key, prefix) < 0) return start;
  // The page before may have ended with a prefix.
  if (after.uploadId === undefined && rollUp(after.key, prefix, delimiter) === after.key) {
    return afterPosition({ kind: "prefix", text: after.key });
  }
  return { ...after, inclusive: false };
}

/**
 * Cursors: the position at which a page of a listing ended, with a checksum.
 *
 * The checksum is no protection against forgery. It turns mistakes (a key passed as a cursor, a
 * cursor cut short) into errors, where they would otherwise list from a wrong position.
 */
export interface Position {
  readonly kind: "key" | "prefix";
  readonly text: string;
}

// Node and workerd have these; the core's TypeScript library does not declare them.
declare function btoa(binary: string): string;
declare function atob(base64: string): string;

export function encodeCursor(position: Position): string {
  const payload = (position.kind === "key" ? "k" : "p") + position.text;
  const binary = cursorChecksum(payload) + utf8Bytes(payload);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Deviation: the text is ours, and the code is that of an internal error, because the code of the
 * deployed service is not known.
 *
 * @throws StoreError 10001 when `encodeCursor` did not make `cursor`
 */
export function decodeCursor(cursor: string): Position {
  const payload = decodePayload(cursor);
  const position: Position = {
    kind: payload.startsWith("k") ? "key" : "prefix",
    text: payload.slice(1),
  };
  if (encodeCursor(position) === cursor) return position;
  throw new StoreError(
    10001,
    "The cursor is not valid: pass the cursor of the previous page as it is.",
  );
}

const checksumLength = 4;

/** FNV-1a over the UTF-16 code units, as four characters below U+0100. */
function cursorChecksum(payload: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < payload.length; index++) {
    hash = Math.imul(hash ^ payload.charCodeAt(index), 0x01000193);
  }
  return String.fromCharCode(hash >>> 24, (hash >>> 16) & 255, (hash >>> 8) & 255, hash & 255);
}

function utf8Bytes(text: string): string {
  return encodeURIComponent(text).replace(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Empty for text that is no cursor. */
function decodePayload(cursor: string): string {
  try {
    const binary = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const escaped = binary
      .slice(checksumLength)
      .replace(/[^A-Za-z0-9]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
    return decodeURIComponent(escaped);
  } catch {
    return "";
  }
}
