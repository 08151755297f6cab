/** Answers of an S3 service: bodies that are complete or fail, documents, and the errors in them. */
import { childText, readXml, type XmlElement } from "../../http/xml.ts";
import { StoreError, storeErrorTable, type StoreErrorCode } from "../core/errors.ts";
import { RemoteError, type S3Answer } from "./s3-transport.ts";

/** An answer that decides a request. */
export interface S3Result extends S3Answer {
  /** The document of a refusal; `null` for HEAD, whose answers have no body. */
  readonly error: ErrorDocument | null;
}

/** The largest answers are pages of 1,000 keys. */
const documentBytesMax = 16 * 1024 * 1024;

export interface ErrorDocument {
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

/** `NoSuchKey: The key does not exist`, without a full stop. */
export function saidBy({ code, message }: Pick<ErrorDocument, "code" | "message">): string {
  return message === "" ? code : `${code}: ${message.replace(/\.$/, "")}`;
}

/**
 * The text of an answer with one of the statuses that a rule of the operation expects.
 *
 * @param action what the service was asked for, for the sentence of a refusal
 * @throws StoreError or RemoteError for another status
 */
export async function readExpected(
  answer: S3Result,
  statuses: readonly number[],
  action: string,
): Promise<string> {
  const text = await readText(answer);
  if (statuses.includes(answer.status)) return text;
  throw refusalOf(answer.error ?? { code: `status ${answer.status}`, message: "" }, action);
}

/** @throws RemoteError for a text that is no document */
export function requireDocument(text: string): XmlElement {
  const document = parseDocument(text);
  if (document !== null) return document;
  throw new RemoteError(
    "unknown",
    "Cannot read an answer of the S3 service: the document is not XML.",
  );
}

/**
 * Reads a body to its end, so that the connection can be used again.
 *
 * @param bytesMax the rest of a longer body is cancelled
 */
export async function readText(
  { body }: Pick<S3Answer, "body">,
  bytesMax = documentBytesMax,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.byteLength;
    if (bytes >= bytesMax) break;
  }
  return text + decoder.decode();
}

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

export function isTruncated(document: XmlElement): boolean {
  return childText(document, "IsTruncated")?.trim() === "true";
}

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
  const reason = saidBy({ code, message });
  return new RemoteError("refused", `Cannot ${action}: the S3 service answered with ${reason}.`);
}

interface BodyGuard {
  readonly idleMilliseconds: number;
  readonly failure: (reason: string, cause?: unknown) => Error;
  /** Ends the request, after the body has failed or the caller has cancelled it. */
  readonly end: () => void;
}

/** A body that fails when it breaks off, or when nothing arrives for some time while the caller waits. */
export function guardedBody({ body }: S3Answer, guard: BodyGuard): S3Answer["body"] {
  if (body === null) return null;
  // The body stays unlocked until it is read here: the caller may read it in another way.
  let opened: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const reader = () => (opened ??= body.getReader());
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await withinIdleTime(reader().read(), guard);
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          guard.end();
          throw error;
        }
      },
      async cancel(reason) {
        await reader().cancel(reason);
        guard.end();
      },
    },
    { highWaterMark: 0 },
  );
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
