/**
 * Signed requests to one bucket of an S3 service: retries, timeouts, and errors as sentences.
 *
 * `fetch` resolves the segments `.` and `..` of a path, also as `%2E`. A key with such a segment has its
 * slashes as `%2F`, so that the path has no such segment: `/bucket/a%2F..%2Fb`. A service decodes the key
 * and finds the same text. Services differ in what they verify: some decode the path and sign slashes
 * (Ceph), others keep `%2F`.
 *
 * A request is sent again after an exponential backoff with full jitter, so that clients that failed at the
 * same time do not come back at the same time.
 */
import { canonicalQuery, encodeComponent } from "../../http/uri.ts";
import type { RemoteCredentials, RemotePlace } from "./remote-options.ts";
import {
  failureSentence,
  nameOf,
  refusalSentence,
  silenceSentence,
  transportSentence,
  type Refusal,
} from "./remote-sentences.ts";
import { RequestSigner } from "../../http/signature.ts";
import {
  discardBody,
  guardedBody,
  readErrorDocument,
  readStart,
  type ErrorDocument,
} from "./s3-answer.ts";
import {
  RemoteError,
  TransportError,
  type RemoteFailure,
  type S3Answer,
  type S3Message,
  type S3Transport,
  type SizedStream,
} from "./s3-transport.ts";

const attemptsMax = 5;
/** A request that has taken this long is not sent again. */
const retryMillisecondsMax = 20_000;
const firstDelayMilliseconds = 100;
const delayMillisecondsMax = 5_000;

export interface S3Request {
  readonly method: S3Message["method"];
  /** The key in the service's bucket, with the prefix. Absent: the bucket itself. */
  readonly key?: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A function opens content that is not in memory, once for each attempt. */
  readonly body?: Uint8Array | (() => Promise<SizedStream>);
  /**
   * Whether the request may be executed twice. Default: for GET and HEAD only. Any other request is
   * repeated only after an answer that says that nothing was executed (429, 503), or when no connection
   * was made.
   */
  readonly isRepeatable?: boolean;
}

/** An answer that decides a request. */
export interface S3Result extends S3Answer {
  /** The document of a refusal; `null` for HEAD, whose answers have no body. */
  readonly error: ErrorDocument | null;
}

export interface S3ConnectionOptions extends Partial<RetryTools> {
  /** For the connection and the head of an answer. */
  readonly answerMilliseconds?: number;
  /** How long the body of an answer may pause while the caller waits for it. */
  readonly idleMilliseconds?: number;
}

/** The services send an answer to a completed upload after they have joined its parts. */
const joinMilliseconds = 120_000;
/** An upload may take as long as a line of this speed needs. */
const uploadBytesPerMillisecond = 128;
/** The longest time of a timer. */
const timerMillisecondsMax = 2 ** 31 - 1;
const errorDocumentBytesMax = 64 * 1024;

/** A request that has no result. */
interface FailedAttempt {
  readonly error: RemoteError;
  /** Whether another attempt can succeed. */
  readonly isTransient: boolean;
  readonly askedMilliseconds: number | null;
}

export class S3Connection {
  readonly place: RemotePlace;
  readonly #transport: S3Transport;
  readonly #signer: RequestSigner;
  readonly #tools: RetryTools;
  readonly #answerMilliseconds: number;
  readonly #idleMilliseconds: number;
  readonly #host: string;
  /** Whether the service verifies a path with slashes where the request has `%2F` (see above). */
  #signsSlashes = true;

  constructor(
    place: RemotePlace,
    credentials: RemoteCredentials,
    transport: S3Transport,
    options: S3ConnectionOptions = {},
  ) {
    this.place = place;
    this.#transport = transport;
    this.#signer = new RequestSigner(credentials, place.region);
    this.#tools = { ...systemTools, ...options };
    this.#answerMilliseconds = options.answerMilliseconds ?? 30_000;
    this.#idleMilliseconds = options.idleMilliseconds ?? 60_000;
    this.#host = new URL(place.endpoint).host;
  }

  /**
   * Resolves with any answer that decides the request: success, and refusals that are results, such as
   * 304, 404, 409, 412 and 416. The caller reads or cancels the body.
   *
   * @throws RemoteError; the error of the content, when the content cannot be read
   */
  async send(request: S3Request): Promise<S3Result> {
    const { now, random, sleep } = this.#tools;
    const isRepeatable =
      request.isRepeatable ?? (request.method === "GET" || request.method === "HEAD");
    const started = now();
    let isUnknown = false;
    for (let failed = 1; ; failed++) {
      const outcome = await this.#attempt(request);
      if (!("isTransient" in outcome)) return outcome;
      const { error, isTransient, askedMilliseconds } = outcome;
      isUnknown ||= error.failure === "unknown";
      const mayRepeat = isTransient && (isRepeatable || error.failure === "unreachable");
      const elapsedMilliseconds = now() - started;
      const delay = mayRepeat
        ? retryDelay({ failed, elapsedMilliseconds, askedMilliseconds, random: random() })
        : null;
      if (delay === null) {
        // An earlier attempt may have been executed.
        if (!isUnknown || error.failure === "unknown") throw error;
        throw new RemoteError("unknown", error.message, { status: error.status, cause: error });
      }
      await sleep(delay);
    }
  }

  async #attempt(request: S3Request): Promise<S3Result | FailedAttempt> {
    const path = requestPath(this.place.bucketName, request.key);
    const outcome = await this.#exchange(request);
    const isDenied = "isTransient" in outcome && outcome.error.status === 403;
    if (!isDenied || path.sent === path.decoded) return outcome;
    // The service may verify the other form of the path.
    this.#signsSlashes = !this.#signsSlashes;
    const second = await this.#exchange(request);
    if ("isTransient" in second) this.#signsSlashes = !this.#signsSlashes;
    return second;
  }

  async #exchange(request: S3Request): Promise<S3Result | FailedAttempt> {
    const abort = new AbortController();
    const body = typeof request.body === "function" ? await request.body() : request.body;
    const milliseconds = this.#patience(request, body);
    let isSilent = false;
    const timer = setTimeout(() => {
      isSilent = true;
      abort.abort();
    }, milliseconds);
    let answer: S3Answer;
    try {
      answer = await this.#transport(await this.#messageOf(request, body, abort.signal));
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return this.#lost(error, isSilent ? milliseconds : null);
    } finally {
      clearTimeout(timer);
    }
    return this.#judge(request, this.#guarded(answer, abort));
  }

  /** How long the head of an answer may take. */
  #patience({ method }: S3Request, body: Uint8Array | SizedStream | undefined): number {
    const first = method === "POST" ? joinMilliseconds : 0;
    const upload = (body?.length ?? 0) / uploadBytesPerMillisecond;
    return Math.min(Math.max(first, this.#answerMilliseconds) + upload, timerMillisecondsMax);
  }

  async #messageOf(
    { method, key, query = [], headers = {} }: S3Request,
    body: Uint8Array | SizedStream | undefined,
    signal: AbortSignal,
  ): Promise<S3Message> {
    const path = requestPath(this.place.bucketName, key);
    const queryText = canonicalQuery(query);
    const signed = await this.#signer.sign(
      {
        method,
        host: this.#host,
        path: this.#signsSlashes ? path.decoded : path.sent,
        query: queryText,
        headers,
      },
      this.#tools.now(),
    );
    return {
      method,
      origin: this.place.endpoint,
      target: queryText === "" ? path.sent : `${path.sent}?${queryText}`,
      headers: signed,
      ...(body === undefined ? {} : { body }),
      signal,
    };
  }

  #guarded(answer: S3Answer, abort: AbortController): S3Answer {
    const body = guardedBody(answer, {
      idleMilliseconds: this.#idleMilliseconds,
      failure: (reason, cause) =>
        new RemoteError(
          "unknown",
          `${nameOf(this.place)} sent an incomplete answer: ${reason}. Try again.`,
          { cause },
        ),
      end: () => abort.abort(),
    });
    return { ...answer, body };
  }

  #lost(error: TransportError, silentMilliseconds: number | null): FailedAttempt {
    const { failure, message } = error;
    const sentence =
      silentMilliseconds === null
        ? transportSentence(this.place, failure, message)
        : silenceSentence(this.place, silentMilliseconds);
    return {
      error: new RemoteError(failure === "lost" ? "unknown" : "unreachable", sentence, {
        cause: error,
      }),
      isTransient: failure !== "certificate",
      askedMilliseconds: null,
    };
  }

  async #judge(request: S3Request, answer: S3Answer): Promise<S3Result | FailedAttempt> {
    if (answer.status < 300 || answer.status === 304) return { ...answer, error: null };
    const text = await readStart(answer.body, errorDocumentBytesMax).catch(() => "");
    const document = readErrorDocument(text);
    const refusal: Refusal = {
      status: answer.status,
      headers: answer.headers,
      document,
      isForeign: document === null && text.trim() !== "",
      now: this.#tools.now(),
    };
    const verdict = verdictOf(refusal);
    if (verdict === "result") {
      const body = answer.body === null ? null : new Response(text).body;
      return { status: answer.status, headers: answer.headers, body, error: document };
    }
    if (verdict === "refused") {
      const explained = request.method === "HEAD" ? await this.#explain(request, refusal) : refusal;
      const sentence = refusalSentence(this.place, explained);
      const error = new RemoteError("refused", sentence, { status: answer.status });
      return { error, isTransient: false, askedMilliseconds: null };
    }
    return {
      error: new RemoteError(verdict, failureSentence(this.place, refusal), {
        status: answer.status,
      }),
      isTransient: true,
      askedMilliseconds: retryAfterMilliseconds(
        answer.headers.get("retry-after"),
        this.#tools.now(),
      ),
    };
  }

  /** The answer to HEAD has no document: GET tells why the service refuses. */
  async #explain(request: S3Request, refusal: Refusal): Promise<Refusal> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.#answerMilliseconds);
    try {
      const message = await this.#messageOf({ ...request, method: "GET" }, undefined, abort.signal);
      const answer = this.#guarded(await this.#transport(message), abort);
      if (answer.status < 300) {
        await discardBody(answer);
        return refusal;
      }
      const text = await readStart(answer.body, errorDocumentBytesMax);
      return { ...refusal, headers: answer.headers, document: readErrorDocument(text) };
    } catch {
      return refusal;
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * `/bucket/key`, encoded.
 *
 * @returns in `decoded` the path with slashes, where `sent` has `%2F`; otherwise the same text
 */
export function requestPath(
  bucketName: string,
  key: string | undefined,
): { readonly sent: string; readonly decoded: string } {
  const bucket = `/${encodeComponent(bucketName)}`;
  if (key === undefined) return { sent: bucket, decoded: bucket };
  const segments = key.split("/").map(encodeComponent);
  const decoded = `${bucket}/${segments.join("/")}`;
  const hasDots = segments.some((segment) => segment === "." || segment === "..");
  return { sent: hasDots ? `${bucket}/${segments.join("%2F")}` : decoded, decoded };
}

/** What tests replace. */
interface RetryTools {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

const systemTools: RetryTools = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

export interface Attempt {
  /** How many attempts have failed. */
  readonly failed: number;
  /** Since the first attempt began. */
  readonly elapsedMilliseconds: number;
  /** What the service asked for (`retryAfterMilliseconds`). */
  readonly askedMilliseconds: number | null;
  readonly random: number;
}

/** How long to wait before the next attempt; `null` when there is no next attempt. */
export function retryDelay(attempt: Attempt): number | null {
  if (attempt.failed >= attemptsMax) return null;
  const longest = Math.min(delayMillisecondsMax, firstDelayMilliseconds * 2 ** attempt.failed);
  const delay = Math.max(attempt.random * longest, attempt.askedMilliseconds ?? 0);
  return attempt.elapsedMilliseconds + delay > retryMillisecondsMax ? null : delay;
}

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3): seconds, or a date.
 *
 * @returns at most the longest delay of a retry; `null` for no header, or for another text
 */
export function retryAfterMilliseconds(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const delay = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(delay) ? null : Math.min(Math.max(delay, 0), delayMillisecondsMax);
}

/** Codes of status 400 that concern the connection. The others of 400 are results of a request. */
const refusedCodes = new Set([
  "AuthorizationHeaderMalformed",
  "AuthorizationQueryParametersError",
  "ExpiredToken",
  "IllegalLocationConstraintException",
  "InvalidBucketName",
  "InvalidRegionName",
  "InvalidToken",
  "NoSuchBucket",
  "TokenRefreshRequired",
]);

/**
 * `result`: the caller decides. `unreachable`: the service has not executed the request and can do so
 * later.
 */
function verdictOf({ status, document, isForeign }: Refusal): RemoteFailure | "result" {
  if (status === 408 || status === 429 || status === 503) return "unreachable";
  if (status === 400 && document?.code === "RequestTimeout") return "unreachable";
  // 507: there is no space on the device, and a later attempt is no better.
  if (status >= 500 && status !== 501 && status !== 507) return "unknown";
  if (status < 400 || [401, 403, 405, 501, 507].includes(status)) return "refused";
  return isForeign || refusedCodes.has(document?.code ?? "") ? "refused" : "result";
}
