/**
 * Reads objects of an S3 service.
 *
 * A get without a condition is one GET. If the size of the object, its parts or a condition decides, a HEAD
 * reads the object first, our rules decide, and the GET requires the entity tag that the HEAD has seen.
 *
 * Where a part lies: a HEAD with a part number answers with `Content-Range` on most services. Ceph answers
 * with the length and the entity tag of the part alone: there the part begins after the parts before it,
 * whose lengths are read as well. Content is then read as a range of the whole object, so each answer
 * describes the object.
 */
import { resolveRange, type ByteRange, type RangeRequest } from "../core/byte-range.ts";
import { conditionHolds } from "../core/conditional.ts";
import { failureOf, StoreError } from "../core/errors.ts";
import { inlineBytesMax } from "../core/limits.ts";
import type { NewObject } from "../core/object.ts";
import type { DescribedObject, Request } from "../core/operations.ts";
import { isAbsent } from "./acknowledgement.ts";
import { serviceKey, type RemoteContext } from "./remote-context.ts";
import {
  describeObject,
  etagOf,
  objectOfHeaders,
  partsCountOf,
  type FoundObject,
} from "./remote-object.ts";
import { contentLengthOf, readExpected, refusalOf, type S3Result } from "./s3-answer.ts";
import { RemoteError, type S3Answer } from "./s3-transport.ts";

/** How often an object may be replaced between a HEAD and its GET. */
const replacementsMax = 32;
/** How often small content is read again when it breaks off. */
const brokenReadsMax = 3;
const headsMax = 32;
/** Services that store checksums name them only when asked. */
const checksumMode = { "x-amz-checksum-mode": "ENABLED" };

export type GetRequest = Omit<Request<"get">, "method">;

export type RemoteObject =
  | FoundRemoteObject
  | { readonly status: "condition failed"; readonly object: DescribedObject };

interface FoundRemoteObject {
  readonly status: "found";
  readonly object: DescribedObject;
  readonly range: ByteRange;
  readonly partsCount?: number;
  /** Small content is in memory. The caller reads or cancels a stream; it fails if the content breaks off. */
  readonly content: ArrayBuffer | ReadableStream<Uint8Array>;
}

/** `null` when there is no object. */
export async function headObject(remote: RemoteContext, key: string): Promise<FoundObject | null> {
  const named = serviceKey(remote, key);
  const action = `read "${key}"`;
  for (let attempt = 0; attempt < replacementsMax; attempt++) {
    const answer = await remote.connection.exchange(
      { method: "HEAD", key: named, headers: checksumMode },
      action,
      [200, 404],
    );
    if (answer.status === 200) {
      return objectOfHeaders(key, answer.headers, contentLengthOf(answer));
    }
    if (await isAbsent(remote.connection, named, action)) return null;
  }
  throw new StoreError(10058);
}

export async function getObject(
  remote: RemoteContext,
  request: GetRequest,
): Promise<RemoteObject | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await getOnce(remote, request);
    } catch (error) {
      if (!(error instanceof BrokenContentError)) throw error;
      const { cause } = error;
      // To read content again that was too slow would take as long.
      if (cause instanceof RemoteError && cause.isSilence) throw cause;
      if (attempt < brokenReadsMax) continue;
      const fields = cause instanceof RemoteError ? failureOf(cause) : {};
      const outcome = "not executed";
      throw new RemoteError("unknown", error.message, { ...fields, outcome, cause: error });
    }
  }
}

async function getOnce(remote: RemoteContext, request: GetRequest): Promise<RemoteObject | null> {
  const { key, range, onlyIf, partNumber } = request;
  const header = partNumber === undefined ? rangeHeader(range) : null;
  if (onlyIf === undefined && header !== null) {
    const answer = await sendGet(remote, key, header);
    if (isContent(answer)) return foundObject(key, answer, (size) => resolveRange(range, size));
    // 409: Ceph reads while another writer replaces the object.
    await readExpected(answer, [404, 409, 416], `read "${key}"`);
    if (answer.status === 404) {
      if (answer.error?.code === "NoSuchKey") return null;
      throw refusalOf({ code: "status 404 without a reason", message: "" }, `read "${key}"`);
    }
  }
  return getDecided(remote, request);
}

/** Reads the object first, and then the content of this object. */
async function getDecided(
  remote: RemoteContext,
  { key, range, onlyIf, partNumber }: GetRequest,
): Promise<RemoteObject | null> {
  for (let attempt = 0; attempt < replacementsMax; attempt++) {
    const object = await headObject(remote, key);
    if (object === null) return null;
    if (onlyIf !== undefined && !conditionHolds(onlyIf, object)) {
      return { status: "condition failed", object: describeObject(object) };
    }
    const { etag, size } = object;
    const content =
      partNumber === undefined
        ? resolveRange(range, size)
        : await partRange(remote, object, partNumber);
    if (content === null) continue;
    const partsCount = partNumber === undefined ? null : partsCountOf(etag);
    const parts = partsCount === null ? {} : { partsCount };
    if (content.length === 0) return { ...found(object, content, new ArrayBuffer(0)), ...parts };
    const { offset, length } = content;
    const header = length === size ? "" : `bytes=${offset}-${offset + length - 1}`;
    const answer = await sendGet(remote, key, header, etag);
    if (isContent(answer)) return { ...(await foundObject(key, answer, () => content)), ...parts };
    await readExpected(answer, [404, 409, 412, 416], `read "${key}"`);
  }
  throw new StoreError(10058);
}

/**
 * @param range a header; empty: the whole object
 * @param etag of the object, when it is decided
 */
function sendGet(
  remote: RemoteContext,
  key: string,
  range: string,
  etag?: string,
): Promise<S3Result> {
  return remote.connection.send({
    method: "GET",
    key: serviceKey(remote, key),
    headers: {
      ...checksumMode,
      ...(range !== "" && { range }),
      ...(etag !== undefined && { "if-match": `"${etag}"` }),
    },
  });
}

function isContent({ status }: S3Answer): boolean {
  return status === 200 || status === 206;
}

async function foundObject(
  key: string,
  answer: S3Result,
  wantedOf: (size: number) => ByteRange,
): Promise<FoundRemoteObject> {
  const partial =
    answer.status === 206 ? parseContentRange(answer.headers.get("content-range")) : null;
  const size = partial?.size ?? contentLengthOf(answer);
  const sent: ByteRange = partial ?? { offset: 0, length: size };
  const object = objectOfHeaders(key, answer.headers, size);
  try {
    const wanted = wantedOf(size);
    if (sent.offset !== wanted.offset || sent.length !== wanted.length) {
      throw new RemoteError(
        "refused",
        `Cannot read a range of "${key}": the S3 service sent another range than asked for.`,
      );
    }
    const content =
      sent.length <= inlineBytesMax ? await readBytes(key, answer, sent.length) : answer.stream();
    if (content === null) throw new BrokenContentError(key);
    return found(object, sent, content);
  } catch (error) {
    await answer.body?.cancel().catch(() => {});
    throw error;
  }
}

function found(
  object: NewObject,
  { offset, length }: ByteRange,
  content: FoundRemoteObject["content"],
): FoundRemoteObject {
  return { status: "found", object: describeObject(object), range: { offset, length }, content };
}

/** Content in memory that has another length than announced, or that broke off. */
class BrokenContentError extends Error {
  constructor(key: string, cause?: unknown) {
    super(`Cannot read "${key}": the content that the S3 service sent broke off.`, { cause });
  }
}

async function readBytes(
  key: string,
  { body }: Pick<S3Result, "body">,
  length: number,
): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  try {
    for await (const chunk of body ?? []) {
      if (filled + chunk.length > length) throw new Error("The content is too long.");
      bytes.set(chunk, filled);
      filled += chunk.length;
    }
  } catch (error) {
    throw new BrokenContentError(key, error);
  }
  if (filled < length) throw new BrokenContentError(key);
  return bytes.buffer;
}

/**
 * The header, when a service reads the range as `resolveRange()` does, except for a range that holds no
 * byte of the object. Empty: the whole object, without a header. `null`: the size of the object decides.
 */
export function rangeHeader(range: RangeRequest | undefined): string | null {
  if (range === undefined) return "";
  if ("header" in range) return plainHeader(range.header);
  const { offset, length, suffix } = range;
  if (suffix !== undefined) return suffix > 0 ? `bytes=-${suffix}` : null;
  if (length === undefined) return offset === undefined ? "" : `bytes=${offset}-`;
  if (length === 0) return null;
  const first = offset ?? 0;
  // No object is as large: some services refuse a number that 64 bits cannot hold.
  const last = Math.min(first + length - 1, Number.MAX_SAFE_INTEGER);
  return last < first ? null : `bytes=${first}-${last}`;
}

/** A header of other form is ignored by `resolveRange()`, and perhaps refused by a service. */
function plainHeader(header: string): string | null {
  const [, first, last, suffix] =
    /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(header) ?? [];
  if (suffix !== undefined) return Number(suffix) > 0 ? header : null;
  if (first === undefined) return null;
  return last === undefined || Number(last) >= Number(first) ? header : null;
}

export function parseContentRange(header: string | null): (ByteRange & { size: number }) | null {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? "") ?? [];
  if (first === undefined) return null;
  const offset = Number(first);
  return { offset, length: Number(last) - offset + 1, size: Number(size) };
}

type Described = Pick<NewObject, "key" | "etag" | "size">;

/**
 * @returns `null` when the object was replaced or deleted
 * @throws StoreError 200001 for a part that does not exist, RemoteError
 */
async function partRange(
  remote: RemoteContext,
  object: Described,
  partNumber: number,
): Promise<ByteRange | null> {
  const count = partsCountOf(object.etag);
  if ((count ?? 1) === 1 && partNumber === 1) return { offset: 0, length: object.size };
  if (count === null) throw new StoreError(200001);
  const part = await headPart(remote, object, partNumber);
  if (part === "replaced") return null;
  if (part === null) throw new StoreError(200001);
  const { length } = part;
  if (part.offset !== undefined) return { offset: part.offset, length };
  let offset = 0;
  const before = Array.from({ length: partNumber - 1 }, (_, index) => index + 1);
  while (before.length > 0) {
    const some = before.splice(0, headsMax);
    const lengths = await Promise.all(some.map((number) => partLength(remote, object, number)));
    for (const each of lengths) {
      if (each === "replaced") return null;
      offset += each;
    }
  }
  if (offset + length > object.size) throw cannotReadParts();
  return { offset, length };
}

/** 0 for a number that the uploader left out. */
async function partLength(
  remote: RemoteContext,
  object: Described,
  partNumber: number,
): Promise<number | "replaced"> {
  const name = `${object.etag} ${partNumber} ${object.key}`;
  const known = remote.partLengths.get(name);
  if (known !== undefined) return known;
  const part = await headPart(remote, object, partNumber);
  if (part === "replaced") return "replaced";
  const length = part?.length ?? 0;
  remote.partLengths.set(name, length);
  return length;
}

/** @returns without `offset` where the service says only how long the part is; `null`: there is no such part */
async function headPart(
  remote: RemoteContext,
  { key, etag, size }: Described,
  partNumber: number,
): Promise<{ readonly offset?: number; readonly length: number } | "replaced" | null> {
  const answer = await remote.connection.exchange(
    {
      method: "HEAD",
      key: serviceKey(remote, key),
      query: [["partNumber", String(partNumber)]],
      headers: { "if-match": `"${etag}"` },
    },
    `read part ${partNumber} of "${key}"`,
    [200, 206, 400, 404, 409, 412, 416],
  );
  const { status, headers } = answer;
  // Ceph refuses a part that does not exist with 400.
  if (status === 400 || status === 416) return null;
  if (status !== 200 && status !== 206) return "replaced";
  const range = parseContentRange(headers.get("content-range"));
  if (range !== null) return { offset: range.offset, length: range.length };
  const length = contentLengthOf(answer);
  // The whole object: the service ignores the number.
  if (length === size && etagOf(headers) === etag) throw cannotReadParts();
  return { length };
}

function cannotReadParts(): RemoteError {
  return new RemoteError("refused", "The S3 service cannot read one part of an object.");
}
