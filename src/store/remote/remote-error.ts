/** Why a request to an S3 service has no result. The message is a sentence for people. */

/**
 * `unreachable`: nothing was executed. `unknown`: the request was sent and no answer came, or an
 * answer that leaves open what happened (500, 502, 504). `refused`: wrong keys, a missing bucket, a clock
 * that is off, a request that the service does not take.
 */
export type RemoteFailure = "unreachable" | "unknown" | "refused";

export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly failure: RemoteFailure;
  /** Of the answer; `null` when no answer came. */
  readonly status: number | null;

  constructor(
    failure: RemoteFailure,
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
    this.status = status;
  }
}
