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
import { RequestSigner } from "../../http/signature.ts";
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
import {
  guardedBody,
  readErrorDocument,
  readExpected,
  readText,
  type S3Result,
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
/** The services send an answer to a completed upload after they have joined its parts. */
const joinMilliseconds = 120_000;
/** An upload may take as long as a line of this speed needs. */
const uploadBytesPerMillisecond = 128;
const timerMillisecondsMax = 2 ** 31 - 1;
const errorDocumentBytesMax = 64 * 1024;

export type S3Query = readonly (readonly [name: string, value: string])[];

export interface S3Request {
  readonly method: S3Message["method"];
  /** The key in the service's bucket, with the prefix. Absent: the bucket itself. */
  readonly key?: string;
  readonly query?: S3Query;
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

/** What tests replace. */
const defaults = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, milliseconds)),
  /** For the connection and the head of an answer. */
  answerMilliseconds: 30_000,
  /** How long the body of an answer may pause while the caller waits for it. */
  idleMilliseconds: 60_000,
};

export type S3ConnectionOptions = Partial<typeof defaults>;

export class S3Connection {
  readonly place: RemotePlace;
  readonly #transport: S3Transport;
  readonly #signer: RequestSigner;
  readonly #options: typeof defaults;
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
    this.#options = { ...defaults, ...options };
  }

  /**
   * `send()`, for an answer that is a text, with one of the statuses that the caller expects.
   *
   * @param action what the service is asked for, for the sentence of a refusal
   * @throws StoreError or RemoteError for another status; as `send()`
   */
  async exchange(
    request: S3Request,
    action: string,
    statuses: readonly number[] = [200],
  ): Promise<S3Result & { readonly text: string }> {
    const answer = await this.send(request);
    return { ...answer, text: await readExpected(answer, statuses, action) };
  }

  /**
   * Resolves with any answer that decides the request: success, and refusals that are results, such as
   * 304, 404, 409, 412 and 416. The caller reads or cancels the body.
   *
   * @throws RemoteError; the error of the content, when the content cannot be read
   */
  async send(request: S3Request): Promise<S3Result> {
    const { now, random, sleep } = this.#options;
    const { method, isRepeatable = method === "GET" || method === "HEAD" } = request;
    const started = now();
    let isUnknown = false;
    for (let failed = 1; ; failed++) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        const { failure, message, status, retry } = error;
        isUnknown ||= failure === "unknown";
        const mayRepeat = isRepeatable || failure === "unreachable";
        const delay =
          retry !== null && mayRepeat
            ? retryDelay({
                failed,
                elapsedMilliseconds: now() - started,
                askedMilliseconds: retry.askedMilliseconds,
                random: random(),
              })
            : null;
        if (delay === null) {
          // An earlier attempt may have been executed.
          if (!isUnknown || failure === "unknown") throw error;
          throw new RemoteError("unknown", message, { status, cause: error });
        }
        await sleep(delay);
      }
    }
  }

  async #attempt(request: S3Request): Promise<S3Result> {
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      const path = requestPath(this.place.bucketName, request.key);
      const isDenied = error instanceof RemoteError && error.status === 403;
      if (!isDenied || path.sent === path.decoded) throw error;
      // The service may verify the other form of the path.
      this.#signsSlashes = !this.#signsSlashes;
      return this.#sendOnce(request).catch((second: unknown) => {
        this.#signsSlashes = !this.#signsSlashes;
        throw second;
      });
    }
  }

  async #sendOnce(request: S3Request): Promise<S3Result> {
    const body = typeof request.body === "function" ? await request.body() : request.body;
    const answer = await this.#transmit(request, body);
    const { status, headers } = answer;
    if (status < 300 || status === 304) return { ...answer, error: null };
    const text = await readText(answer, errorDocumentBytesMax).catch(() => "");
    const document = readErrorDocument(text);
    const now = this.#options.now();
    const isForeign = document === null && text.trim() !== "";
    const refusal: Refusal = { status, headers, document, isForeign, now };
    const verdict = verdictOf(refusal);
    if (verdict === "result") {
      const read = answer.body === null ? null : new Response(text).body;
      return { status, headers, body: read, error: document };
    }
    if (verdict === "refused") {
      const explained = request.method === "HEAD" ? await this.#explain(request, refusal) : refusal;
      throw new RemoteError("refused", refusalSentence(this.place, explained), { status });
    }
    const askedMilliseconds = retryAfterMilliseconds(headers.get("retry-after"), now);
    throw new RemoteError(verdict, failureSentence(this.place, refusal), {
      status,
      retry: { askedMilliseconds },
    });
  }

  /** @throws RemoteError when no answer arrives */
  async #transmit(
    request: S3Request,
    body: Uint8Array | SizedStream | undefined,
  ): Promise<S3Answer> {
    const { answerMilliseconds, idleMilliseconds } = this.#options;
    const { place } = this;
    const upload = (body?.length ?? 0) / uploadBytesPerMillisecond;
    const join = request.method === "POST" ? joinMilliseconds : 0;
    const milliseconds = Math.min(
      Math.max(join, answerMilliseconds) + upload,
      timerMillisecondsMax,
    );
    const abort = new AbortController();
    let isSilent = false;
    const timer = setTimeout(() => {
      isSilent = true;
      abort.abort();
    }, milliseconds);
    try {
      const answer = await this.#transport(await this.#messageOf(request, body, abort.signal));
      const failure = (reason: string, cause?: unknown): RemoteError => {
        const sentence = `${nameOf(place)} sent an incomplete answer: ${reason}. Try again.`;
        return new RemoteError("unknown", sentence, { cause });
      };
      const end = (): void => abort.abort();
      return { ...answer, body: guardedBody(answer, { idleMilliseconds, failure, end }) };
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const { failure, message } = error;
      const sentence = isSilent
        ? silenceSentence(place, milliseconds)
        : transportSentence(place, failure, message);
      throw new RemoteError(failure === "lost" ? "unknown" : "unreachable", sentence, {
        cause: error,
        retry: failure === "certificate" ? null : { askedMilliseconds: null },
        isSilence: isSilent,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #messageOf(
    { method, key, query = [], headers = {} }: S3Request,
    body: Uint8Array | SizedStream | undefined,
    signal: AbortSignal,
  ): Promise<S3Message> {
    const { bucketName, endpoint: origin } = this.place;
    const path = requestPath(bucketName, key);
    const queryText = canonicalQuery(query);
    const signed = await this.#signer.sign(
      {
        method,
        host: new URL(origin).host,
        path: this.#signsSlashes ? path.decoded : path.sent,
        query: queryText,
        headers,
      },
      this.#options.now(),
    );
    const target = queryText === "" ? path.sent : `${path.sent}?${queryText}`;
    return { method, origin, target, headers: signed, body, signal };
  }

  /** The answer to HEAD has no document: GET tells why the service refuses. */
  async #explain(request: S3Request, refusal: Refusal): Promise<Refusal> {
    try {
      const answer = await this.#transmit({ ...request, method: "GET" }, undefined);
      const text = await readText(answer, errorDocumentBytesMax);
      if (answer.status < 300) return refusal;
      return { ...refusal, headers: answer.headers, document: readErrorDocument(text) };
    } catch {
      return refusal;
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

/** How long to wait before the next attempt; `null` when there is no next attempt. */
export function retryDelay(attempt: {
  readonly failed: number;
  readonly elapsedMilliseconds: number;
  readonly askedMilliseconds: number | null;
  /** From 0 to less than 1. */
  readonly random: number;
}): number | null {
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
