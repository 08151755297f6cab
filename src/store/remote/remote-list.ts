/**
 * Lists the objects and the uploads in progress of a bucket on an S3 service.
 *
 * A page of objects (ListObjectsV2) has keys, sizes, entity tags and times. Metadata are in the headers of an
 * object, so a listing with metadata sends a HEAD for each object, some at the same time; an object that is
 * deleted meanwhile is left out.
 *
 * Without metadata, the version, the time and the storage class of an object are those of the
 * service, as for objects of other programs.
 *
 * Cursors are our own (`core/list-page.ts`), so they are valid in every process.
 *
 * A page begins at a bound of our own. `start-after` is exclusive: for a bound that is inclusive, the
 * request begins a little before the bound, and what is before the bound is left out here.
 *
 * Keys of uploads roll up into prefixes here, because Ceph leaves out uploads when it is asked for prefixes.
 * Uploads have the order of the service: Ceph compares the text of a key and its upload, so that `a-b` is
 * before `a`.
 */
import { childrenOf, childText, type XmlElement } from "../../http/xml.ts";
import { compareKeys, utf8Length } from "../core/key.ts";
import { keyBytesMax, listLimitMax, listPageBytesMax } from "../core/limits.ts";
import {
  afterPosition,
  decodeCursor,
  encodeCursor,
  firstBound,
  rollUp,
  validateLimit,
  type Bound,
} from "../core/list-page.ts";
import { uploadStateAt } from "../core/multipart.ts";
import {
  encodeFields,
  encodeMetadata,
  includedMetadata,
  itemText,
  type NewObject,
} from "../core/object.ts";
import type {
  ListRequest,
  Request,
  Result,
  UploadPosition,
  UploadRecord,
} from "../core/operations.ts";
import { isProbeKey } from "./probe-keys.ts";
import type { RemoteContext } from "./remote-context.ts";
import { decodeUploadId, encodeUploadId, md5OfEtag, unquoted } from "./remote-object.ts";
import { headObject } from "./remote-reads.ts";
import { isTruncated, requireDocument, textDecoderOf } from "./s3-answer.ts";
import type { S3Query } from "./s3-connection.ts";

const headsMax = 32;
const pageLimitMax = 1000;
/** The last character: no key with a prefix is after the prefix and many of these. */
const lastCharacter = "\u{10ffff}";

interface PageQuery {
  readonly prefix: string;
  readonly delimiter: string;
  readonly from: Bound;
  readonly limit: number;
}

/** An object, or a rolled-up prefix with its delimiter. Keys are without the prefix of the bucket. */
type ListedItem =
  | { readonly kind: "key"; readonly text: string; readonly object: NewObject }
  | { readonly kind: "prefix"; readonly text: string };

interface ServicePage {
  readonly items: ListedItem[];
  readonly hasMore: boolean;
}

export async function listObjects(
  remote: RemoteContext,
  request: ListRequest,
): Promise<Result<"list">> {
  const { prefix, delimiter, startAfter, cursor, limit, includeHttp, includeCustom } = request;
  validateLimit(limit);
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const from = firstBound({ prefix, startAfter, after });
  if (from === null) return { objectsJson: "[]", prefixes: [] };
  const { items, hasMore } = await readServicePage(remote, { prefix, delimiter, from, limit });
  const hasMetadata = includeHttp || includeCustom;
  const weightMax = hasMetadata ? listPageBytesMax : Infinity;
  const described = hasMetadata ? describedItems(remote, items) : items.map(listedItem);
  const rows: string[] = [];
  const prefixes: string[] = [];
  let weight = 0;
  let last: ListedItem | undefined;
  let isFull = false;
  for await (const { item, object } of described) {
    if (item.kind === "prefix") prefixes.push(item.text);
    else if (object !== null) {
      const row = rowOf(object, request);
      isFull = last !== undefined && weight + row.length > weightMax;
      if (isFull) break;
      rows.push(row);
      weight += row.length;
    }
    last = item;
  }
  const cursorAfter = isFull || hasMore ? last : undefined;
  return {
    objectsJson: `[${rows.join(",")}]`,
    prefixes,
    ...(cursorAfter !== undefined && { cursor: encodeCursor(cursorAfter) }),
  };
}

/** Without HEADs, for `stats`. */
export async function countObjects(
  remote: RemoteContext,
  { after, limit = Infinity }: Omit<Request<"stats">, "method">,
): Promise<Omit<Result<"stats">, "uploads">> {
  let objects = 0;
  let bytes = 0;
  let from: Bound =
    after === undefined ? { key: "", inclusive: true } : { key: after, inclusive: false };
  for (;;) {
    const most = Math.min(limit - objects, pageLimitMax);
    const query = { prefix: "", delimiter: "", from, limit: most };
    const { items, hasMore } = await readServicePage(remote, query);
    for (const item of items) {
      objects++;
      if (item.kind === "key") bytes += item.object.size;
    }
    const last = items.at(-1);
    if (last !== undefined && objects >= limit) return { objects, bytes, next: last.text };
    if (last === undefined || !hasMore) return { objects, bytes };
    from = { key: last.text, inclusive: false };
  }
}

interface DescribedItem {
  readonly item: ListedItem;
  readonly object: NewObject | null;
}

/** Without a HEAD. */
function listedItem(item: ListedItem): DescribedItem {
  return { item, object: item.kind === "key" ? item.object : null };
}

/** The items in order, with their objects. The HEADs are ahead of the caller. */
async function* describedItems(
  remote: RemoteContext,
  items: readonly ListedItem[],
): AsyncGenerator<DescribedItem> {
  const heads: Promise<NewObject | null>[] = [];
  for (const [index, item] of items.entries()) {
    for (const { kind, text } of items.slice(heads.length, index + headsMax)) {
      const head = kind === "key" ? headObject(remote, text) : Promise.resolve(null);
      // The caller may stop before this object.
      head.catch(() => {});
      heads.push(head);
    }
    yield { item, object: (await heads[index]) ?? null };
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

/**
 * One page, which is full unless no item follows.
 *
 * A bound can be a key in the middle of a rolled-up prefix. Then a request of its own finds out whether a
 * key follows with this prefix, because some services leave out such a prefix.
 */
async function readServicePage(remote: RemoteContext, query: PageQuery): Promise<ServicePage> {
  const { prefix, delimiter, from, limit } = query;
  const isWithin = !from.inclusive && from.key.startsWith(prefix);
  const rolledUp = isWithin ? rollUp(from.key, prefix, delimiter) : null;
  if (rolledUp === null) return readPage(remote, query);
  const inPrefix = { prefix: rolledUp, delimiter: "", from, limit: 1 };
  const { items: found } = await readPage(remote, inPrefix);
  const item: ListedItem = { kind: "prefix", text: rolledUp };
  const first = found.length === 0 ? [] : [item];
  const next = afterPosition(item);
  if (next === null) return { items: first, hasMore: false };
  const rest = { prefix, delimiter, from: next, limit: Math.max(limit - first.length, 1) };
  const page = await readPage(remote, rest);
  const items = [...first, ...page.items];
  return { items: items.slice(0, limit), hasMore: page.hasMore || items.length > limit };
}

async function readPage(
  { connection, prefix: bucketPrefix }: RemoteContext,
  { prefix, delimiter, from, limit }: PageQuery,
): Promise<ServicePage> {
  const whole = (bucketPrefix + prefix).toWellFormed();
  // No key begins with such a prefix, and some services refuse it.
  if (utf8Length(whole) > keyBytesMax) return { items: [], hasMore: false };
  const start = startBefore(prefix, from);
  let position: S3Query =
    start === null ? [] : [["start-after", shortened((bucketPrefix + start).toWellFormed())]];
  const items: ListedItem[] = [];
  // A page of the service is short if some of its items are before the bound.
  for (;;) {
    const query: S3Query = [
      ["list-type", "2"],
      ["encoding-type", "url"],
      ["max-keys", String(limit - items.length)],
      ["prefix", whole],
      ...(delimiter === "" ? [] : [["delimiter", delimiter] as const]),
      ...position,
    ];
    const { text } = await connection.exchange({ method: "GET", query }, "list objects");
    const page = parsePage(requireDocument(text), bucketPrefix);
    items.push(...page.items.filter(({ text: key }) => isInBound(key, from) && !isProbeKey(key)));
    if (page.token === null || items.length >= limit) {
      return { items, hasMore: page.token !== null };
    }
    position = [["continuation-token", page.token]];
  }
}

/** `null` when the prefix is the bound. */
function startBefore(prefix: string, { key, inclusive }: Bound): string | null {
  if (!inclusive) return key;
  return key === prefix ? null : before(key);
}

/** A text before a key that is the end of a prefix (`prefixEnd()`), after most keys with the prefix. */
function before(key: string): string {
  const points = Array.from(key);
  const last = points.pop()?.codePointAt(0) ?? 0;
  const previous = last === 0xe000 ? 0xd7ff : last - 1;
  return previous < 0
    ? points.join("")
    : points.join("") + String.fromCodePoint(previous) + lastCharacter;
}

/** A text that is longer than any key, shortened to a text before it. */
function shortened(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(keyBytesMax));
  return text.slice(0, read);
}

function isInBound(text: string, { key, inclusive }: Bound): boolean {
  const order = compareKeys(text, key);
  return order > 0 || (order === 0 && inclusive);
}

function parsePage(
  document: XmlElement,
  bucketPrefix: string,
): { items: ListedItem[]; token: string | null } {
  const decode = textDecoderOf(document);
  const keyOf = (element: XmlElement, name: string): string =>
    decode(childText(element, name) ?? "").slice(bucketPrefix.length);
  const objects = childrenOf(document, "Contents").map((element): ListedItem => {
    const text = keyOf(element, "Key");
    return { kind: "key", text, object: listedObject(text, element) };
  });
  const prefixes = childrenOf(document, "CommonPrefixes").map((element): ListedItem => ({
    kind: "prefix",
    text: keyOf(element, "Prefix"),
  }));
  return {
    items: [...objects, ...prefixes].toSorted((a, b) => compareKeys(a.text, b.text)),
    token: isTruncated(document) ? childText(document, "NextContinuationToken") : null,
  };
}

function listedObject(key: string, element: XmlElement): NewObject {
  const etag = unquoted(childText(element, "ETag") ?? "");
  const isInfrequent = childText(element, "StorageClass") === "STANDARD_IA";
  return {
    key,
    version: etag,
    uploaded: Date.parse(childText(element, "LastModified") ?? "") || 0,
    size: Number(childText(element, "Size")),
    etag,
    checksums: md5OfEtag(etag),
    storageClass: isInfrequent ? "InfrequentAccess" : "Standard",
    http: {},
    custom: {},
  };
}

export async function listUploads(
  remote: RemoteContext,
  request: Omit<Request<"listUploads">, "method">,
): Promise<Result<"listUploads">> {
  const { prefix, delimiter = "", after, limit } = request;
  validateLimit(limit);
  const whole = (remote.prefix + prefix).toWellFormed();
  const uploads: UploadRecord[] = [];
  const prefixes: string[] = [];
  if (utf8Length(whole) > keyBytesMax) return { uploads, prefixes, truncated: false };
  let last = after;
  let marker = after === undefined ? [] : markerOf(remote, after, prefix);
  for (;;) {
    const page = await readUploads(remote, [
      ["max-uploads", String(delimiter === "" ? limit : listLimitMax)],
      ["prefix", whole],
      ...marker,
    ]);
    for (const upload of page.uploads) {
      const { key, uploadId } = upload;
      if (!isInProgress(remote, upload) || isProbeKey(key)) continue;
      const rolledUp = rollUp(key, prefix, delimiter);
      // Keys with one prefix are neighbours. Ceph repeats the uploads of the key that is the marker.
      if (last?.uploadId === undefined && last?.key === (rolledUp ?? key)) continue;
      if (uploads.length + prefixes.length === limit && last !== undefined) {
        return { uploads, prefixes, truncated: true, next: last };
      }
      if (rolledUp === null) uploads.push(upload);
      else prefixes.push(rolledUp);
      last = rolledUp === null ? { key, uploadId } : { key: rolledUp };
    }
    const end = page.uploads.at(-1);
    if (!page.hasMore || end === undefined) return { uploads, prefixes, truncated: false };
    if (uploads.length + prefixes.length === limit && last !== undefined) {
      return { uploads, prefixes, truncated: true, next: last };
    }
    marker = markerOf(remote, end, prefix);
  }
}

export async function countUploads(remote: RemoteContext): Promise<number> {
  let count = 0;
  let after: UploadPosition | undefined;
  do {
    const request = { prefix: "", limit: listLimitMax, after };
    const page: Result<"listUploads"> = await listUploads(remote, request);
    count += page.uploads.length;
    after = page.next;
  } while (after !== undefined);
  return count;
}

function isInProgress({ now }: RemoteContext, { created }: UploadRecord): boolean {
  return uploadStateAt({ state: "in progress", since: created }, now()) === "in progress";
}

function markerOf(
  remote: RemoteContext,
  { key, uploadId }: UploadPosition,
  prefix: string,
): S3Query {
  if (compareKeys(key, prefix) < 0) return [];
  const keyMarker = ["key-marker", (remote.prefix + key).toWellFormed()] as const;
  if (uploadId === undefined) return [keyMarker];
  return [keyMarker, ["upload-id-marker", decodeUploadId(key, uploadId).serviceId]];
}

/**
 * A page of uploads, in the order of the service.
 *
 * Keys are asked for in their encoded form, because XML cannot contain each character. Ceph encodes them and
 * does not say so, and other services ignore the parameter: keys that could be either are asked for again.
 */
async function readUploads({ connection, prefix }: RemoteContext, query: S3Query) {
  const read = async (encoding: S3Query) => {
    const request = { method: "GET", query: [["uploads", ""], ...encoding, ...query] } as const;
    const document = requireDocument((await connection.exchange(request, "list uploads")).text);
    const decode = textDecoderOf(document);
    let isCertain = true;
    const uploads = childrenOf(document, "Upload").map((upload): UploadRecord => {
      const whole = decode(childText(upload, "Key") ?? "");
      isCertain &&= !/[%+]/.test(whole);
      const key = whole.slice(prefix.length);
      return {
        key,
        uploadId: encodeUploadId(key, childText(upload, "UploadId") ?? ""),
        created: Date.parse(childText(upload, "Initiated") ?? "") || 0,
        storageClass: "Standard",
      };
    });
    isCertain ||= childText(document, "EncodingType") !== null;
    return { uploads, isCertain, hasMore: isTruncated(document) };
  };
  const page = await read([["encoding-type", "url"]]);
  return page.isCertain ? page : read([]);
}
