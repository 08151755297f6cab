/** Which failed calls are repeated, and when. */
import { ApiCallError } from "../api-client.ts";

export const attemptsMax = 5;
const firstDelayMilliseconds = 500;

/** A call without a response, and an error of the server, may succeed later. A refusal does not. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ApiCallError && (error.status === 0 || error.status >= 500);
}

/**
 * The time before the next attempt: doubled each time, and spread so that parts that failed together
 * are not all sent again together.
 *
 * @param failures how many attempts have failed, from 1
 * @param random from 0 up to, but not including, 1
 */
export function retryDelay(failures: number, random: number): number {
  const longest = firstDelayMilliseconds * 2 ** (failures - 1);
  return longest * (0.5 + random / 2);
}
