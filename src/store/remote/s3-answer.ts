/** Answers of an S3 service: bodies that are complete or fail, documents, and the errors in them. */
import { childText, readXml, type XmlElement } from "../../http/xml.ts";
import {
  StoreError,
  storeErrorTable,
  type FailureReason,
  type ServiceFailure,
  type StoreErrorCode,
} from "../core/errors.ts";
import { RemoteError, type S3Answer } from "./s3-transport.ts";

/** An answer that decides a request. */
export interface S3Result extends Omit<S3Answer, "length"> {
  /** The body for a caller that reads at its own pace: the time of the call no longer counts. */
  readonly stream: () => ReadableStream<Uint8Array> | null;
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
  const { status, headers, error: document } = answer;
  const said = document ?? { code: `status ${status}`, message: "" };
  throw refusalOf(said, action, serviceFields({ status, headers, document }));
}

/**
 * @param name of the document; without a name, any
 * @param outcome of the request that was answered with the text
 * @throws RemoteError for a text that is no such document
 */
export function requireDocument(
  text: string,
  name?: string,
  outcome: ServiceFailure["outcome"] = "not executed",
): XmlElement {
  const document = parseDocument(text);
  if (document !== null && (name === undefined || document.name === name)) return document;
  const wanted = name === undefined ? "XML" : `the document ${name}`;
  throw new RemoteError(
    "unknown",
    `Cannot read an answer of the S3 service: the text is not ${wanted}.`,
    { outcome },
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

/** Of AWS, of services that name the field in the code, and of a head that is larger than the service reads. */
const metadataCodes = new Set([
  "MetadataTooLarge",
  "RequestHeaderSectionTooLarge",
  "HeadersTooLarge",
  "status 431",
]);

/** @param fields of the answer, for scripts */
export function refusalOf(
  { code, message }: Pick<ErrorDocument, "code" | "message">,
  action: string,
  fields: Omit<ServiceFailure, "outcome"> = { reason: reasonOf(null, code), serviceCode: code },
): Error {
  const failure: ServiceFailure = { outcome: "not executed", ...fields };
  const storeCode = storeCodes[code];
  if (storeCode !== undefined) return new StoreError(storeCode, undefined, { failure });
  if (metadataCodes.has(code)) {
    return new StoreError(
      10012,
      `${storeErrorTable[10012].text} The S3 service allows less than a local bucket: shorten the metadata.`,
      { failure },
    );
  }
  const reason = saidBy({ code, message });
  return new RemoteError(
    "refused",
    `Cannot ${action}: the S3 service answered with ${reason}.`,
    fields,
  );
}

/** By the code of the service, which says more than the status. */
const codeReasons: Readonly<Record<string, FailureReason>> = {
  AccessDenied: "denied",
  AccountProblem: "denied",
  AllAccessDisabled: "denied",
  ConditionalRequestConflict: "conflict",
  ExpiredToken: "denied",
  InsufficientCapacity: "space",
  InsufficientStorage: "space",
  InvalidAccessKeyId: "denied",
  InvalidToken: "denied",
  MethodNotAllowed: "unsupported",
  NotImplemented: "unsupported",
  OperationAborted: "conflict",
  PreconditionFailed: "conflict",
  QuotaExceeded: "space",
  RequestLimitExceeded: "throttled",
  RequestTimeout: "timeout",
  SignatureDoesNotMatch: "denied",
  SlowDown: "throttled",
  SlowDownRead: "throttled",
  SlowDownWrite: "throttled",
  Throttling: "throttled",
  ThrottlingException: "throttled",
  TokenRefreshRequired: "denied",
  TooManyRequests: "throttled",
  XMinioAdminBucketQuotaExceeded: "space",
  XMinioStorageFull: "space",
};

const statusReasons: Readonly<Record<number, FailureReason>> = {
  401: "denied",
  403: "denied",
  405: "unsupported",
  408: "timeout",
  409: "conflict",
  412: "conflict",
  429: "throttled",
  501: "unsupported",
  507: "space",
};

export function reasonOf(status: number | null, code: string | undefined): FailureReason {
  const known = codeReasons[code ?? ""] ?? statusReasons[status ?? 0];
  return known ?? ((status ?? 0) >= 500 ? "unavailable" : "refused");
}

/** What an answer says to scripts. */
export function serviceFields({
  status,
  headers,
  document,
}: {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly document: ErrorDocument | null;
}): Omit<ServiceFailure, "outcome"> {
  const serviceCode = document?.code;
  const requestId = headers.get("x-amz-request-id") ?? document?.textOf("RequestId") ?? "";
  return {
    reason: reasonOf(status, serviceCode),
    status,
    ...(serviceCode !== undefined && { serviceCode }),
    ...(requestId !== "" && { requestId }),
  };
}

/** Content must arrive, and be taken, at this rate: so many bytes in each idle time. */
export const idleBytesMin = 64 * 1024;

interface BodyGuard {
  readonly idleMilliseconds: number;
  /** What is left of the time of the call; `Infinity` for content that the caller reads at its own pace. */
  readonly restMilliseconds: () => number;
  readonly failure: (reason: string, cause: unknown, isSilence: boolean) => Error;
  /** Whether the caller waits for content. */
  readonly onRead: (isReading: boolean) => void;
  /** After the last byte, a failure, or the end by the caller. */
  readonly onEnd: (isComplete: boolean) => void;
}

/** Of a stream of octets, or of another stream. Both take pieces of octets; their types differ by their memory. */
interface BodyController {
  readonly byobRequest?: ReadableStreamBYOBRequest | null;
  enqueue(piece: unknown): void;
  close(): void;
}

/**
 * A body that fails when it breaks off, or when too little arrives while the caller waits. The time in which
 * the caller does not read does not count.
 */
export function guardedBody({ body, length }: S3Answer, guard: BodyGuard): S3Answer["body"] {
  if (body === null) return null;
  // The body stays unlocked until it is read here: the caller may read it in another way.
  let opened: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const reader = () => (opened ??= body.getReader());
  const pace = new Pace(guard);
  const pull = async (controller: BodyController): Promise<void> => {
    guard.onRead(true);
    try {
      const { value, done } = await pace.within(reader().read());
      guard.onRead(false);
      if (!done) return controller.enqueue(value);
      controller.close();
      // A reader that has given its own memory gets it back.
      controller.byobRequest?.respond(0);
      guard.onEnd(true);
    } catch (error) {
      guard.onEnd(false);
      throw error;
    }
  };
  const cancel = async (reason: unknown): Promise<void> => {
    guard.onEnd(false);
    await reader()
      .cancel(reason)
      .catch(() => {});
  };
  const options = { highWaterMark: 0 };
  if (length === undefined) return new ReadableStream<Uint8Array>({ pull, cancel }, options);
  // `expectedLength` is workerd's own: the length of the stream.
  const sized = { type: "bytes", expectedLength: length, pull, cancel } as const;
  return new ReadableStream(sized, options);
}

/** The time that the caller has waited since the last `idleBytesMin` bytes. */
class Pace {
  readonly #guard: BodyGuard;
  #waited = 0;
  #bytes = 0;

  constructor(guard: BodyGuard) {
    this.#guard = guard;
  }

  async within(read: Promise<ReadableStreamReadResult<Uint8Array>>) {
    const { idleMilliseconds, restMilliseconds, failure } = this.#guard;
    const idle = idleMilliseconds - this.#waited;
    const rest = restMilliseconds();
    const seconds = idleMilliseconds / 1000;
    const slowness =
      this.#bytes === 0
        ? `no content arrived for ${seconds} s`
        : `only ${this.#bytes} bytes arrived in ${seconds} s`;
    const reason = idle <= rest ? slowness : "the time of the call is over";
    const stall = Promise.withResolvers<never>();
    const end = (): void => stall.reject(failure(reason, undefined, true));
    const timer = setTimeout(end, Math.max(Math.min(idle, rest), 0));
    const started = Date.now();
    try {
      const result = await Promise.race([
        read.catch((error: unknown) => {
          throw failure(`the connection was lost: ${(error as Error).message}`, error, false);
        }),
        stall.promise,
      ]);
      this.#waited += Date.now() - started;
      this.#bytes += result.value?.byteLength ?? 0;
      if (this.#bytes >= idleBytesMin) this.#bytes = this.#waited = 0;
      return result;
    } finally {
      clearTimeout(timer);
      read.catch(() => {});
    }
  }
}
