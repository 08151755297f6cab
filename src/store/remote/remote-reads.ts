/**
 * Reads objects of an S3 service.
 *
 * A get without a condition is one GET. If the size of the object, its parts or a condition decides, a HEAD
 * reads the object first, our rules decide, and the GET requires the entity tag that the HEAD has seen.
 */
import { resolveRange, type ByteRange } from "../core/byte-range.ts";
import { conditionHolds } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import { inlineBytesMax } from "../core/limits.ts";
import type { NewObject } from "../core/object.ts";
import type { Request } from "../core/operations.ts";
import { RemoteError } from "./remote-error.ts";
import { describeObject, objectOfHeaders, partsCountOf } from "./remote-object.ts";
import { RemoteParts } from "./remote-parts.ts";
import type { RemoteObject } from "./retrieved-object.ts";
import { parseContentRange, rangeHeader } from "./requested-range.ts";
import type { S3Connection } from "./s3-connection.ts";
import type { S3Answer } from "./s3-transport.ts";
import { contentLengthOf, readText, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";

/** How often an object may be replaced between a HEAD and its GET. */
const replacementsMax = 32;
/** How often small content is read again when it breaks off. */
const brokenReadsMax = 3;

type GetRequest = Omit<Request<"get">, "method">;

/** A GET, as far as the object is decided. */
interface ContentRequest {
  /** A header; empty: the whole object. */
  readonly range: string;
  readonly etag?: string;
}

export class RemoteReads {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #parts: RemoteParts;

  constructor(connection: S3Connection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#parts = new RemoteParts(connection, prefix);
  }

  /** `null` when there is no object. */
  async head(key: string): Promise<NewObject | null> {
    const answer = await this.#connection.send({
      method: "HEAD",
      key: serviceKey(this.#prefix, key),
      headers: checksumMode,
    });
    if (answer.status !== 200 && answer.status !== 404) {
      return refuseAnswer(answer, `read "${key}"`);
    }
    await readText(answer);
    if (answer.status === 404) return null;
    return objectOfHeaders(key, answer.headers, contentLengthOf(answer));
  }

  /** @throws StoreError, RemoteError */
  async get(request: GetRequest): Promise<RemoteObject | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#getOnce(request);
      } catch (error) {
        if (!(error instanceof BrokenContentError)) throw error;
        if (attempt === brokenReadsMax)
          throw new RemoteError("unknown", error.message, { cause: error });
      }
    }
  }

  async #getOnce(request: GetRequest): Promise<RemoteObject | null> {
    const { key, range, onlyIf, partNumber } = request;
    const header = partNumber === undefined ? rangeHeader(range) : null;
    if (onlyIf === undefined && header !== null) {
      const answer = await this.#send(key, { range: header });
      if (answer.status === 404) return discard(answer, null);
      if (isContent(answer)) return this.#found(key, answer, (size) => resolveRange(range, size));
      if (answer.status !== 416) return refuseAnswer(answer, `read "${key}"`);
      await readText(answer);
    }
    return this.#getDecided(request);
  }

  /** Reads the object first, and then the content of this object. */
  async #getDecided(request: GetRequest): Promise<RemoteObject | null> {
    const { key, range, onlyIf, partNumber } = request;
    for (let attempt = 0; attempt < replacementsMax; attempt++) {
      const object = await this.head(key);
      if (object === null) return null;
      if (onlyIf !== undefined && !conditionHolds(onlyIf, object)) {
        return { status: "condition failed", object: describeObject(object) };
      }
      const { etag, size } = object;
      const content =
        partNumber === undefined
          ? resolveRange(range, size)
          : await this.#parts.range(object, partNumber);
      if (content === null) continue;
      const partsCount = partNumber === undefined ? null : partsCountOf(etag);
      const parts = partsCount === null ? {} : { partsCount };
      if (content.length === 0) return { ...found(object, content, new ArrayBuffer(0)), ...parts };
      const answer = await this.#send(key, { etag, range: headerOf(content, size) });
      if (isContent(answer))
        return { ...(await this.#found(key, answer, () => content)), ...parts };
      if (![404, 409, 412, 416].includes(answer.status))
        return refuseAnswer(answer, `read "${key}"`);
      await readText(answer);
    }
    throw new StoreError(10058);
  }

  #send(key: string, { range, etag }: ContentRequest): Promise<S3Answer> {
    return this.#connection.send({
      method: "GET",
      key: serviceKey(this.#prefix, key),
      headers: {
        ...checksumMode,
        ...(range !== "" && { range }),
        ...(etag !== undefined && { "if-match": `"${etag}"` }),
      },
    });
  }

  async #found(
    key: string,
    answer: S3Answer,
    wantedOf: (size: number) => ByteRange,
  ): Promise<RemoteObject & { status: "found" }> {
    const partial =
      answer.status === 206 ? parseContentRange(answer.headers.get("content-range")) : null;
    const size = partial?.size ?? contentLengthOf(answer);
    const sent: ByteRange = partial ?? { offset: 0, length: size };
    const object = objectOfHeaders(key, answer.headers, size);
    try {
      requireRange(key, sent, wantedOf(size));
      const content =
        sent.length <= inlineBytesMax
          ? await readBytes(key, answer, sent.length)
          : (answer.runtimeBody ?? answer.body);
      if (content === null) throw new BrokenContentError(key);
      return found(object, sent, content);
    } catch (error) {
      await answer.body?.cancel().catch(() => {});
      throw error;
    }
  }
}

/** Services that store checksums name them only when asked. */
const checksumMode = { "x-amz-checksum-mode": "ENABLED" };

/** Content in memory that has another length than announced, or that broke off. */
class BrokenContentError extends Error {
  constructor(key: string, cause?: unknown) {
    super(`Cannot read "${key}": the content that the S3 service sent broke off.`, { cause });
  }
}

function found(
  object: NewObject,
  range: ByteRange,
  content: ArrayBuffer | ReadableStream<Uint8Array>,
): RemoteObject & { status: "found" } {
  const { offset, length } = range;
  return { status: "found", object: describeObject(object), range: { offset, length }, content };
}

function isContent({ status }: S3Answer): boolean {
  return status === 200 || status === 206;
}

function headerOf({ offset, length }: ByteRange, size: number): string {
  return length === size ? "" : `bytes=${offset}-${offset + length - 1}`;
}

function requireRange(key: string, sent: ByteRange, wanted: ByteRange): void {
  if (sent.offset === wanted.offset && sent.length === wanted.length) return;
  throw new RemoteError(
    "refused",
    `Cannot read a range of "${key}": the S3 service sent another range than asked for.`,
  );
}

async function readBytes(key: string, { body }: S3Answer, length: number): Promise<ArrayBuffer> {
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

async function discard<T>(answer: S3Answer, result: T): Promise<T> {
  await readText(answer);
  return result;
}
