/**
 * Repeats calls that fail. A call that gets no response is one of two things: a connection that broke,
 * which counts as an attempt, or an explorer that has ended. Calls then wait until the explorer
 * answers again, however long that takes, and no attempt is counted.
 */
import { ApiCallError } from "../api-client.ts";
import { attemptsMax, isRetryable, retryDelay } from "./retry-policy.ts";

const pollMilliseconds = 1000;

export interface AttemptOptions {
  readonly isReachable: () => Promise<boolean>;
  /** @throws the reason of the signal */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Called when the explorer goes away, and when it is back. */
  readonly onAway: () => void;
}

/** The browser cannot read the file any more. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

export class CallAttempts {
  readonly #options: AttemptOptions;
  /** Settles when the explorer is back; all calls wait for the same promise. */
  #return: Promise<void> | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#return !== null;
  }

  /**
   * @param body what the call sends: a file that has changed fails like a broken connection
   * @throws the error of the last attempt, `UnreadableFileError`, or the reason of the signal
   */
  async run<Result>(
    signal: AbortSignal,
    call: () => Promise<Result>,
    body?: Blob,
  ): Promise<Result> {
    const { sleep, random } = this.#options;
    let failures = 0;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        if (!isRetryable(error)) throw error;
        const isUnanswered = (error as ApiCallError).status === 0;
        if (isUnanswered && (await this.#waitForReturn(signal))) continue;
        if (isUnanswered && body !== undefined) await requireReadable(body);
        if (++failures >= attemptsMax) throw isUnanswered ? brokenConnection(error) : error;
        await sleep(retryDelay(failures, random()), signal);
      }
    }
  }

  /** @returns whether the explorer was away */
  async #waitForReturn(signal: AbortSignal): Promise<boolean> {
    if (this.#return === null && (await this.#options.isReachable())) return false;
    this.#return ??= this.#poll();
    await untilAborted(this.#return, signal);
    return true;
  }

  async #poll(): Promise<void> {
    // After the promise is set, so that listeners see that the explorer is away.
    await Promise.resolve();
    this.#options.onAway();
    do await this.#options.sleep(pollMilliseconds);
    while (!(await this.#options.isReachable()));
    this.#return = null;
    this.#options.onAway();
  }
}

/** @throws the reason of the signal */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function requireReadable(body: Blob): Promise<void> {
  try {
    await body.slice(0, 1).arrayBuffer();
  } catch (error) {
    throw new UnreadableFileError(
      "The browser cannot read the file: it was changed, moved or deleted after it was chosen. " +
        "Cancel this upload and choose the file again.",
      { cause: error },
    );
  }
}

function brokenConnection(cause: unknown): ApiCallError {
  const error = new ApiCallError(
    0,
    `The connection to the explorer broke ${attemptsMax} times while the file was sent. ` +
      "The explorer itself answers. Try again.",
  );
  error.cause = cause;
  return error;
}
