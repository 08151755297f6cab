/**
 * Lists a bucket on an S3 service.
 *
 * A page of the service has keys and sizes. The other properties of an object are in its headers, so a
 * listing sends a HEAD for each object, some at the same time. An object that is deleted meanwhile is left
 * out. Cursors are our own (`core/cursor.ts`), so they are valid in every process.
 */
import { decodeCursor, encodeCursor, firstBound, validateLimit, type Bound } from "../core/list.ts";
import { listPageBytesMax } from "../core/limits.ts";
import { encodeFields, encodeMetadata, includedMetadata, type NewObject } from "../core/object.ts";
import type { ListRequest, Request, Result } from "../core/operations.ts";
import { itemText } from "../core/row-seal.ts";
import type { RemoteReads } from "./remote-reads.ts";
import type { S3Connection } from "./s3-connection.ts";
import { readServicePage, type ListedItem } from "./service-page.ts";

/** HEADs that run at the same time. */
const headsMax = 32;
/** The largest page of a service. */
const pageLimitMax = 1000;

export class RemoteList {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #reads: RemoteReads;

  constructor(connection: S3Connection, prefix: string, reads: RemoteReads) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#reads = reads;
  }

  async list(request: ListRequest): Promise<Result<"list">> {
    const { prefix, delimiter, startAfter, cursor, limit, includeHttp, includeCustom } = request;
    validateLimit(limit);
    const from = firstBound({
      prefix,
      ...(startAfter !== undefined && { startAfter }),
      ...(cursor !== undefined && { after: decodeCursor(cursor) }),
    });
    if (from === null) return { objectsJson: "[]", prefixes: [] };
    const query = { prefix, delimiter, from, limit };
    const { items, isTruncated } = await readServicePage(this.#connection, this.#prefix, query);
    const weightMax = includeHttp || includeCustom ? listPageBytesMax : Infinity;
    const rows: string[] = [];
    const prefixes: string[] = [];
    let weight = 0;
    let last: ListedItem | undefined;
    for await (const { item, object } of this.#described(items)) {
      if (item.kind === "prefix") prefixes.push(item.text);
      else if (object !== null) {
        const row = rowOf(object, request);
        if (last !== undefined && weight + row.length > weightMax) {
          return pageOf(rows, prefixes, last);
        }
        rows.push(row);
        weight += row.length;
      }
      last = item;
    }
    return pageOf(rows, prefixes, isTruncated ? last : undefined);
  }

  /** Without HEADs, for `stats`. */
  async count({
    after,
    limit = Infinity,
  }: Omit<Request<"stats">, "method">): Promise<Omit<Result<"stats">, "uploads">> {
    let objects = 0;
    let bytes = 0;
    let from: Bound =
      after === undefined ? { key: "", inclusive: true } : { key: after, inclusive: false };
    for (;;) {
      const most = Math.min(limit - objects, pageLimitMax);
      const query = { prefix: "", delimiter: "", from, limit: most };
      const { items, isTruncated } = await readServicePage(this.#connection, this.#prefix, query);
      for (const item of items) {
        objects++;
        if (item.kind === "key") bytes += item.size;
      }
      const last = items.at(-1);
      if (last !== undefined && objects >= limit) return { objects, bytes, next: last.text };
      if (last === undefined || !isTruncated) return { objects, bytes };
      from = { key: last.text, inclusive: false };
    }
  }

  /** The items in order, with their objects. The HEADs are ahead of the caller. */
  async *#described(
    items: readonly ListedItem[],
  ): AsyncGenerator<{ item: ListedItem; object: NewObject | null }> {
    const heads: Promise<NewObject | null>[] = [];
    const start = (item: ListedItem): void => {
      const head = item.kind === "key" ? this.#reads.head(item.text) : Promise.resolve(null);
      // The caller may stop before this object.
      head.catch(() => {});
      heads.push(head);
    };
    for (const item of items.slice(0, headsMax)) start(item);
    for (const [index, item] of items.entries()) {
      const object = (await heads[index]) ?? null;
      const next = items[index + headsMax];
      if (next !== undefined) start(next);
      yield { item, object };
    }
  }
}

function rowOf(object: NewObject, { includeHttp, includeCustom }: ListRequest): string {
  const include = { http: includeHttp, custom: includeCustom };
  const metadata =
    includeHttp || includeCustom
      ? includedMetadata(encodeMetadata(object.http, object.custom), include)
      : "null";
  return `[${itemText(object.key, encodeFields(object))},${metadata}]`;
}

function pageOf(
  rows: readonly string[],
  prefixes: string[],
  last: ListedItem | undefined,
): Result<"list"> {
  return {
    objectsJson: `[${rows.join(",")}]`,
    prefixes,
    ...(last !== undefined && { cursor: encodeCursor({ kind: last.kind, text: last.text }) }),
  };
}
