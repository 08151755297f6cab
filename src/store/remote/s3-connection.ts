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
import { placesOf, type ConnectionPlaces, type Place } from "./connection-places.ts";
import {
  remoteLimits,
  type KeySource,
  type RemoteCredentials,
  type RemotePlace,
} from "./remote-options.ts";
import {
  askedOf,
  failureSentence,
  nameOf,
  queueSentence,
  refusalSentence,
  silenceSentence,
  spentSentence,
  stallSentence,
  throttledSentence,
  transportSentence,
  type Refusal,
} from "./remote-sentences.ts";
import { isPutOff, retryAfterMilliseconds, retryDelay, verdictOf } from "./retry.ts";
import {
  guardedBody,
  idleBytesMin,
  readErrorDocument,
  readExpected,
  readText,
  serviceFields,
  type S3Result,
} from "./s3-answer.ts";
import {
  copyOf,
  RemoteError,
  TransportError,
  type S3Answer,
  type S3Message,
  type S3Transport,
  type SizedStream,
} from "./s3-transport.ts";

/** A request that has taken this long is not sent again. */
const retryMillisecondsMax = 20_000;
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
   * repeated only after an answer of the service that says that nothing was executed (429, 503), or when no
   * connection was made.
   */
  readonly isRepeatable?: boolean;
  /**
   * Of a write whose object the caller reads before it sends the request again: after an answer that puts the request
   * off, `send()` waits and rejects. The last of these errors has no `retry`.
   */
  readonly attempts?: { failed: number };
}

/** What tests replace, and the bounds of the configuration. */
const defaults = {
  ...remoteLimits,
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, milliseconds)),
  /** Is told before a request is sent again. */
  onRetry: (_request: S3Request, _failed: number, _error: RemoteError): void => {},
};

export type S3ConnectionOptions = Partial<typeof defaults>;

/** The time of a call of a bucket, which its requests share. */
interface CallTime {
  /** By the clock of the options. Moves on while content is on its way. */
  ends: number;
}

interface Exchange {
  readonly request: S3Request;
  readonly held: Place;
  readonly abort: AbortController;
  readonly time: CallTime;
}

/** What a connection and the connections of its calls share. */
interface Shared {
  readonly transport: S3Transport;
  readonly keys: KeySource;
  signer: { readonly credentials: RemoteCredentials; readonly signer: RequestSigner } | undefined;
  readonly options: typeof defaults;
  readonly places: ConnectionPlaces;
  /** Whether the service verifies a path with slashes where the request has `%2F` (see above). */
  signsSlashes: boolean;
  hasVersionIds: boolean;
}

/** Its members are private for TypeScript only: the connection of a call is a copy. */
export class S3Connection {
  readonly place: RemotePlace;
  private readonly shared: Shared;
  /** Without it, each request is a call of its own. */
  private readonly time: CallTime | undefined;

  constructor(
    place: RemotePlace,
    keys: RemoteCredentials | KeySource,
    transport: S3Transport,
    options: S3ConnectionOptions = {},
  ) {
    const bounds = { ...defaults, ...place.limits, ...options };
    this.place = place;
    this.shared = {
      transport,
      keys: "current" in keys ? keys : fixedKeys(keys),
      signer: undefined,
      options: bounds,
      places: placesOf(place.endpoint, bounds.connections),
      signsSlashes: true,
      hasVersionIds: false,
    };
  }

  /**
   * Whether an answer has named a version. That says nothing by itself: Garage names versions and has none, and
   * versions that are suspended are named "null", or not at all.
   */
  get hasVersionIds(): boolean {
    return this.shared.hasVersionIds;
  }

  /** The same connection, for one call of a bucket that begins now: its requests share the time of a call. */
  forCall(): S3Connection {
    const copy = Object.create(S3Connection.prototype) as S3Connection;
    return Object.assign(copy, this, { time: this.newTime() });
  }

  private newTime(): CallTime {
    const { now, callMilliseconds } = this.shared.options;
    return { ends: now() + callMilliseconds };
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
    const { now, random, sleep, onRetry } = this.shared.options;
    const { isRepeatable = isRead(request), attempts = { failed: 0 } } = request;
    const time = this.time ?? this.newTime();
    const started = now();
    let isUnknown = false;
    for (;;) {
      try {
        return await this.attempt(request, time);
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        const { failure, retry } = error;
        const failed = ++attempts.failed;
        const isOfCaller = request.attempts !== undefined && isPutOff(error);
        isUnknown ||= failure === "unknown";
        const mayRepeat = isRepeatable || isOfCaller || failure === "unreachable";
        const elapsed = now() - started;
        const rest = Math.min(retryMillisecondsMax - elapsed, time.ends - now());
        const delay =
          retry !== null && mayRepeat
            ? retryDelay({
                failed,
                restMilliseconds: rest,
                askedMilliseconds: retry.askedMilliseconds,
                random: failed === 1 && retry.isAtOnce === true ? 0 : random(),
              })
            : null;
        if (delay === null) {
          const last = error.reason === "throttled" ? throttled(error, failed, elapsed) : error;
          if (isRead(request)) throw Object.assign(last, readOutcome);
          if (isOfCaller) throw copyOf(last, failure);
          // An earlier attempt may have been executed.
          throw isUnknown ? copyOf(last, "unknown") : last;
        }
        onRetry(request, failed, error);
        await sleep(delay);
        if (isOfCaller) throw error;
      }
    }
  }

  private async attempt(request: S3Request, time: CallTime): Promise<S3Result> {
    const credentials = await this.shared.keys.current();
    try {
      return await this.sendOnce(request, time);
    } catch (error) {
      if (!mayBeKeys(error)) throw error;
      // A request that was refused for its keys was not executed.
      if (await this.shared.keys.renew(credentials)) return this.sendOnce(request, time);
      const path = requestPath(this.place.bucketName, request.key);
      const isDenied = error instanceof RemoteError && error.status === 403;
      if (!isDenied || path.sent === path.decoded) throw error;
      // The service may verify the other form of the path.
      this.shared.signsSlashes = !this.shared.signsSlashes;
      return this.sendOnce(request, time).catch((second: unknown) => {
        this.shared.signsSlashes = !this.shared.signsSlashes;
        throw second;
      });
    }
  }

  private async sendOnce(request: S3Request, time: CallTime): Promise<S3Result> {
    const body = typeof request.body === "function" ? await request.body() : request.body;
    const answer = await this.transmit(request, body, time);
    const { status, headers } = answer;
    if (status < 300 || status === 304) return { ...answer, error: null };
    const text = await readText(answer, errorDocumentBytesMax).catch(() => "");
    const document = readErrorDocument(text);
    const now = this.shared.options.now();
    const isForeign = document === null && text.trim() !== "";
    const asked = askedOf(request);
    const refusal: Refusal = { asked, status, headers, document, isForeign, now };
    const verdict = verdictOf(refusal);
    if (verdict === "result") {
      const read = answer.body === null ? null : new Response(text).body;
      return { status, headers, body: read, stream: () => read, error: document };
    }
    if (verdict === "refused") {
      const explained =
        request.method === "HEAD" ? await this.explain(request, refusal, time) : refusal;
      const fields = serviceFields(explained);
      throw new RemoteError("refused", refusalSentence(this.place, explained), fields);
    }
    const askedMilliseconds = retryAfterMilliseconds(headers.get("retry-after"), now);
    throw new RemoteError(verdict, failureSentence(this.place, refusal), {
      ...serviceFields(refusal),
      ...(askedMilliseconds !== null && { retryAfterSeconds: askedMilliseconds / 1000 }),
      retry: { askedMilliseconds },
    });
  }

  /** @throws RemoteError when no answer arrives */
  private async transmit(
    request: S3Request,
    body: Uint8Array | SizedStream | undefined,
    time: CallTime,
  ): Promise<Omit<S3Result, "error">> {
    const { place } = this;
    const { options, places, transport } = this.shared;
    const { now, answerMilliseconds, idleMilliseconds, callMilliseconds } = options;
    // The service joins the parts of an upload before it answers, which may take all of the time.
    const longest = request.method === "POST" ? Infinity : answerMilliseconds;
    const patience = (): number => Math.min(longest, time.ends - now());
    const started = now();
    const milliseconds = patience();
    const spent = { reason: "timeout" } as const;
    if (milliseconds <= 0) {
      throw new RemoteError("unreachable", spentSentence(place, callMilliseconds), spent);
    }
    const held = await places.take(milliseconds);
    if (held === null) {
      throw new RemoteError("unreachable", queueSentence(place, places.max, milliseconds), spent);
    }
    const abort = new AbortController();
    let silence: string | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expectWithin = (after: number, sentence: string): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        silence = sentence;
        abort.abort();
      }, after);
    };
    const left = milliseconds - (now() - started);
    expectWithin(left, silenceSentence(place, milliseconds, now() - started));
    const content = contentOf(body);
    const contentBegan = now();
    let sent = 0;
    let piece = Infinity;
    const onContent = (bytes: number): void => {
      sent += bytes;
      piece += bytes;
      if (sent >= (content?.length ?? 0)) {
        // The time of a call stands still while content is on its way.
        time.ends += now() - contentBegan;
        expectWithin(patience(), silenceSentence(place, patience()));
      } else if (piece >= idleBytesMin) {
        piece = 0;
        expectWithin(idleMilliseconds, stallSentence(place, sent, idleMilliseconds));
      }
    };
    try {
      const message = await this.messageOf(request, content, abort.signal, onContent);
      const answer = await transport(message);
      this.shared.hasVersionIds ||= versionHeaders.some((name) => answer.headers.has(name));
      if (answer.body === null) held.release();
      return this.guarded(answer, { held, abort, time, request });
    } catch (error) {
      held.release();
      if (!(error instanceof TransportError)) throw error;
      const { failure, message } = error;
      const sentence = silence ?? transportSentence(place, failure, message);
      throw new RemoteError(failure === "lost" ? "unknown" : "unreachable", sentence, {
        cause: error,
        retry:
          failure === "certificate"
            ? null
            : { askedMilliseconds: null, isAtOnce: failure === "lost" && silence === null },
        isSilence: silence !== null,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  private guarded(
    answer: S3Answer,
    { held, abort, time, request }: Exchange,
  ): Omit<S3Result, "error"> {
    const { now, idleMilliseconds } = this.shared.options;
    const { status, headers } = answer;
    let isOfCall = true;
    held.isAtWork = false;
    const body = guardedBody(answer, {
      idleMilliseconds,
      restMilliseconds: () => (isOfCall ? time.ends - now() : Infinity),
      failure: (reason, cause, isSilence) => {
        const sentence = `${nameOf(this.place)} sent an incomplete answer: ${reason}. Try again.`;
        const { requestId } = serviceFields({ status, headers, document: null });
        return new RemoteError("unknown", sentence, {
          ...(isRead(request) && readOutcome),
          status,
          ...(requestId !== undefined && { requestId }),
          isSilence,
          cause,
        });
      },
      onRead: (isReading) => (held.isAtWork = isReading),
      onEnd: (isComplete) => {
        held.release();
        if (!isComplete) abort.abort();
      },
    });
    const stream = () => {
      isOfCall = false;
      return body;
    };
    return { status, headers, body, stream };
  }

  private async messageOf(
    { method, key, query = [], headers = {} }: S3Request,
    body: Uint8Array | SizedStream | undefined,
    signal: AbortSignal,
    onContent: (bytes: number) => void,
  ): Promise<S3Message> {
    const { bucketName, endpoint: origin } = this.place;
    const path = requestPath(bucketName, key);
    const queryText = canonicalQuery(query);
    const { keys, signsSlashes, options } = this.shared;
    const signer = this.signerOf(await keys.current());
    const signed = await signer.sign(
      {
        method,
        host: new URL(origin).host,
        path: signsSlashes ? path.decoded : path.sent,
        query: queryText,
        headers,
      },
      options.now(),
    );
    const target = queryText === "" ? path.sent : `${path.sent}?${queryText}`;
    return { method, origin, target, headers: signed, body, signal, onContent };
  }

  /** A signer keeps a key that takes four hashes to derive. */
  private signerOf(credentials: RemoteCredentials): RequestSigner {
    const { shared } = this;
    if (shared.signer?.credentials !== credentials) {
      const signer = new RequestSigner(credentials, this.place.region);
      shared.signer = { credentials, signer };
    }
    return shared.signer.signer;
  }

  /** The answer to HEAD has no document: GET tells why the service refuses. */
  private async explain(request: S3Request, refusal: Refusal, time: CallTime): Promise<Refusal> {
    try {
      const answer = await this.transmit({ ...request, method: "GET" }, undefined, time);
      const text = await readText(answer, errorDocumentBytesMax);
      if (answer.status < 300) return refusal;
      return { ...refusal, headers: answer.headers, document: readErrorDocument(text) };
    } catch {
      return refusal;
    }
  }
}

function fixedKeys(credentials: RemoteCredentials): KeySource {
  return {
    current: () => Promise.resolve(credentials),
    renew: () => Promise.resolve(false),
  };
}

/** Whether other keys may help: 400 is the status of expired tokens at some services. */
function mayBeKeys(error: unknown): boolean {
  return (
    error instanceof RemoteError &&
    error.failure === "refused" &&
    [400, 401, 403].includes(error.status ?? 0)
  );
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

/** A longer value in memory goes out in pieces, so that a connection that takes none of them is noticed. */
function contentOf(
  body: Uint8Array | SizedStream | undefined,
): Uint8Array | SizedStream | undefined {
  if (!(body instanceof Uint8Array) || body.length <= idleBytesMin) return body;
  let position = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(body.subarray(position, (position += idleBytesMin)));
        if (position >= body.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, length: body.length };
}

/** Of a service that asks for fewer requests: how often it was asked, and what it wants. */
function throttled(error: RemoteError, attempts: number, milliseconds: number): RemoteError {
  const asked = error.retry?.askedMilliseconds ?? null;
  const sentence = throttledSentence(attempts, milliseconds, asked);
  return copyOf(error, error.failure, `${error.message} ${sentence}`);
}

const versionHeaders = ["x-amz-version-id", "x-amz-delete-marker"];

const readOutcome = { outcome: "not executed" } as const;

function isRead({ method }: Pick<S3Request, "method">): boolean {
  return method === "GET" || method === "HEAD";
}
