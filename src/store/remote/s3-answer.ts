/** Answers of an S3 service: bodies that are complete or fail, documents, and the errors in them. */
import { childText, readXml, type XmlElement } from "../../http/xml.ts";
import { StoreError, storeErrorTable, type StoreErrorCode } from "../core/errors.ts";
import { RemoteError, type S3Answer } from "./s3-transport.ts";

/** The largest answers are pages of 1,000 keys. */
const documentBytesMax = 16 * 1024 * 1024;
/** A shorter body is read to its end, so that the connection can carry the next request. */
const drainedBytesMax = 64 * 1024;
const readBytes = 64 * 1024;

export interface ErrorDocument {
  /** `NoSuchBucket` */
  readonly code: string;
  readonly message: string;
  /** Of other elements, such as `Region` and `ServerTime`. */
  readonly textOf: (name: string) => string | null;
}

/** @returns `null` for a text that is no document */
export function parseDocument(text: string): XmlElement | null {
  try {
    return readXml(text);
  } catch {
    return null;
  }
}

/** @returns `null` for another document, such as a page of a web server */
export function errorIn(document: XmlElement | null): ErrorDocument | null {
  const code = document?.name === "Error" ? childText(document, "Code") : null;
  if (document === null || code === null) return null;
  return {
    code,
    message: childText(document, "Message") ?? "",
    textOf: (name) => childText(document, name),
  };
}

export function readErrorDocument(text: string): ErrorDocument | null {
  return errorIn(parseDocument(text));
}

/**
 * The text of an answer with one of the statuses that a rule of the operation expects.
 *
 * @param action what the service was asked for, for the sentence of a refusal
 * @throws StoreError or RemoteError for another status
 */
export async function readExpected(
  answer: S3Answer,
  statuses: readonly number[],
  action: string,
): Promise<string> {
  const text = await readText(answer);
  if (statuses.includes(answer.status)) return text;
  const error = readErrorDocument(text);
  throw refusalOf(error ?? { code: `status ${answer.status}`, message: "" }, action);
}

/**
 * The document of an answer with status 200.
 *
 * @throws as `readExpected()`; RemoteError for a text that is no document
 */
export async function readDocument(answer: S3Answer, action: string): Promise<XmlElement> {
  const document = parseDocument(await readExpected(answer, [200], action));
  if (document === null) throw unreadable("is not XML");
  return document;
}

/** Reads a body to its end, so that the connection can be used again. */
export async function readText({ body }: S3Answer): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > documentBytesMax) {
      await reader.cancel();
      throw unreadable("is too large");
    }
  }
}

function unreadable(problem: string): RemoteError {
  return new RemoteError(
    "unknown",
    `Cannot read an answer of the S3 service: the document ${problem}.`,
  );
}

/** @throws RemoteError */
export function contentLengthOf({ headers }: S3Answer): number {
  const text = headers.get("content-length") ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  throw new RemoteError(
    "refused",
    "Cannot read an object: the answer of the S3 service has no Content-Length.",
  );
}

/** Decodes the keys of a listing, if the service has encoded them. */
export function textDecoderOf(document: XmlElement): (text: string) => string {
  const isEncoded = childText(document, "EncodingType")?.toLowerCase() === "url";
  return (text) => (isEncoded ? decodeURIComponent(text.replaceAll("+", " ")) : text);
}

/** The codes of services that are codes of the store. */
const storeCodes: Readonly<Record<string, StoreErrorCode>> = {
  BadDigest: 10037,
  EntityTooLarge: 100100,
  EntityTooSmall: 10011,
  InvalidPart: 10025,
  InvalidPartNumber: 200001,
  InvalidPartOrder: 10048,
  KeyTooLongError: 10020,
  NoSuchUpload: 10024,
};

export function refusalOf(
  { code, message }: Pick<ErrorDocument, "code" | "message">,
  action: string,
): Error {
  const storeCode = storeCodes[code];
  if (storeCode !== undefined) return new StoreError(storeCode);
  if (code === "MetadataTooLarge") {
    return new StoreError(
      10012,
      `${storeErrorTable[10012].text} The S3 service allows less than a local bucket: shorten the metadata.`,
    );
  }
  const reason = message === "" ? code : `${code}: ${message.replace(/\.$/, "")}`;
  return new RemoteError("refused", `Cannot ${action}: the S3 service answered with ${reason}.`);
}

interface BodyGuard {
  readonly idleMilliseconds: number;
  /** Makes the error of a body that breaks off. */
  readonly failure: (reason: string, cause?: unknown) => Error;
  /** Ends the request, after the body has failed or the caller has cancelled it. */
  readonly end: () => void;
}

/**
 * A body that fails when it is shorter or longer than its `Content-Length`, or when nothing arrives for
 * some time while the caller waits.
 */
export function guardedBody({ headers, body }: S3Answer, guard: BodyGuard): S3Answer["body"] {
  if (body === null) return null;
  const lengthText = headers.get("content-length");
  const length = lengthText === null ? null : Number(lengthText);
  // The body stays unlocked until it is read here: the caller may read it in another way.
  let opened: ChunkReader | undefined;
  const reader = (): ChunkReader => (opened ??= openReader(body));
  let received = 0;
  const next = async (): Promise<Uint8Array<ArrayBuffer> | null> => {
    const wanted = length === null ? readBytes : length - received;
    const chunk = await withinIdleTime(reader().read(wanted), guard);
    received += chunk?.byteLength ?? 0;
    if (length === null) return chunk;
    if (chunk === null && received < length) {
      throw guard.failure(`the content ended after ${received} of ${length} bytes`);
    }
    if (received > length) throw guard.failure(`the content has more than ${length} bytes`);
    return chunk;
  };
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const chunk = await next();
        if (chunk !== null) controller.enqueue(chunk);
        // The end of the content is known, but the connection is free only after its end was read.
        if (chunk === null || (received === length && (await next()) === null)) {
          controller.close();
          controller.byobRequest?.respond(0);
        }
      } catch (error) {
        guard.end();
        throw error;
      }
    },
    async cancel(reason) {
      await reader().cancel(reason);
      guard.end();
    },
  });
}

interface ChunkReader {
  /** @returns `null` at the end */
  read(bytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  cancel(reason: unknown): Promise<void>;
}

/** The streams of workerd return small chunks, unless the reader brings the memory. */
function openReader(body: ReadableStream<Uint8Array>): ChunkReader {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      async read(bytes) {
        const size = Math.min(Math.max(bytes, 1), readBytes);
        const { value, done } = await reader.read(new Uint8Array(size));
        return done ? null : value;
      },
      cancel: (reason) => reader.cancel(reason),
    };
  } catch {
    const reader = body.getReader();
    return {
      async read() {
        const { value, done } = await reader.read();
        // A byte stream takes the memory of a chunk, which may belong to other chunks too. `slice` of Node's
        // buffers does not copy.
        return done ? null : new Uint8Array(value);
      },
      cancel: (reason) => reader.cancel(reason),
    };
  }
}

async function withinIdleTime<Value>(
  work: Promise<Value>,
  { idleMilliseconds, failure }: BodyGuard,
): Promise<Value> {
  const stall = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => stall.reject(failure(`no content arrived for ${idleMilliseconds / 1000} s`)),
    idleMilliseconds,
  );
  const read = work.catch((error: unknown) => {
    throw failure(`the connection was lost: ${(error as Error).message}`, error);
  });
  try {
    return await Promise.race([read, stall.promise]);
  } finally {
    clearTimeout(timer);
    read.catch(() => {});
  }
}

/** Gives up a body that the caller does not want. Never fails. */
export async function discardBody({ headers, body }: S3Answer): Promise<void> {
  if (body === null) return;
  const length = headers.get("content-length");
  try {
    if (length === null || Number(length) > drainedBytesMax) await body.cancel();
    else await body.pipeTo(new WritableStream());
  } catch {
    // The answer was complete without its body.
  }
}

/** The first bytes of a body as text. The rest is cancelled. */
export async function readStart(body: S3Answer["body"], bytesMax: number): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; bytes < bytesMax;) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
