/**
 * How a request reaches an S3 service: by `fetch` of a service of workerd, or by Node's HTTP client
 * (`store/node/http-transport.ts`). A transport sends one request once. Retries are those of the connection.
 */

import { failureOf, type FailureReason, type ServiceFailure } from "../core/errors.ts";

export interface S3Message {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** `https://s3.example.net`, without a path. */
  readonly origin: string;
  /** The path and the query, encoded. A transport changes nothing in it. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | SizedStream;
  /** Is told of each piece of a stream that the connection has taken. */
  readonly onContent?: (bytes: number) => void;
  /** Ends the request, and its answer while that is read. */
  readonly signal: AbortSignal;
}

export interface SizedStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly length: number;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  /** The length of `body`, where a script needs streams whose length the runtime knows. */
  readonly length?: number;
}

/**
 * @throws TransportError when no answer arrives; the error of the body, when the body fails; RemoteError for
 *   a target that the transport would change
 */
export type S3Transport = (message: S3Message) => Promise<S3Answer>;

/**
 * Where a request ended that has no answer. Only after `lost` the service may have executed the request:
 * the others end before a connection exists.
 */
export type TransportFailure = "name" | "connect" | "certificate" | "lost";

export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly failure: TransportFailure;

  /** @param reason what the runtime says, without a full stop: `connect ECONNREFUSED 127.0.0.1:9000` */
  constructor(failure: TransportFailure, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.failure = failure;
  }
}

/**
 * Why a request to an S3 service has no result.
 *
 * `unreachable`: there was no connection, or the service says that it has executed nothing. `unknown`: the request was
 * sent and no answer came, or an answer that leaves open what happened (500, 502, 504; 503 of a server that is no S3
 * service). `refused`: wrong keys, a missing bucket, a clock that is off, a request that the service does not take.
 */
export type RemoteFailure = "unreachable" | "unknown" | "refused";

const reasonDefaults: Readonly<Record<RemoteFailure, FailureReason>> = {
  unreachable: "unreachable",
  unknown: "unavailable",
  refused: "refused",
};

/** The outcome follows from the failure, unless it is named: a read executes nothing, however it ends. */
interface RemoteErrorOptions extends Partial<ServiceFailure> {
  readonly retry?: RemoteError["retry"];
  readonly isSilence?: boolean;
  readonly cause?: unknown;
}

/**
 * A request without a result. The message is a sentence for people; the fields of `ServiceFailure` are for
 * scripts, which also see the errors of streams.
 */
export class RemoteError extends Error implements ServiceFailure {
  override readonly name = "RemoteError";
  readonly failure: RemoteFailure;
  /** `null`: another attempt cannot succeed. */
  readonly retry: {
    /** By the service. */
    readonly askedMilliseconds: number | null;
    /** Most connections that are lost were open for long: the next attempt has a new one. */
    readonly isAtOnce?: boolean;
  } | null;
  /** The request has used all of its time: another attempt would take as long. */
  readonly isSilence: boolean;
  declare readonly outcome: ServiceFailure["outcome"];
  declare readonly reason: FailureReason;
  /** Of the answer. */
  declare readonly status?: number;
  declare readonly serviceCode?: string;
  declare readonly requestId?: string;
  declare readonly retryAfterSeconds?: number;

  constructor(
    failure: RemoteFailure,
    message: string,
    { retry = null, isSilence = false, cause, ...fields }: RemoteErrorOptions = {},
  ) {
    super(message, { cause });
    this.failure = failure;
    this.retry = retry;
    this.isSilence = isSilence;
    const outcome = failure === "unknown" ? "unknown" : "not executed";
    const reason = isSilence ? "timeout" : reasonDefaults[failure];
    Object.assign(this, { reason, outcome, ...fields });
  }
}

/** The same error with another failure, and without `retry`. */
export function copyOf(
  error: RemoteError,
  failure: RemoteFailure,
  message: string = error.message,
): RemoteError {
  const { isSilence } = error;
  const { outcome: _, ...fields } = failureOf(error);
  return new RemoteError(failure, message, { ...fields, isSilence, cause: error });
}
