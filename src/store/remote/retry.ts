/**
 * When a request is sent again: exponential backoff with full jitter, so that clients that failed at the
 * same time do not come back at the same time.
 */

const attemptsMax = 5;
/** A request that has taken this long is not sent again. */
const retryMillisecondsMax = 20_000;
const firstDelayMilliseconds = 100;
const delayMillisecondsMax = 5_000;

/** What tests replace. */
export interface RetryTools {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to less than 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export const systemTools: RetryTools = {
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
