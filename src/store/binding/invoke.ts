/**
 * How a method reports a bad argument: by a rejected promise, or, in scripts of before
 * 2022-10-31, by throwing on the spot (the platform's `capture_async_api_throws`).
 */
import type { BucketSettings } from "./settings.ts";

export type Invoke = <T>(method: () => Promise<T>) => Promise<T>;

export function invokeBy({ rejectBadArguments }: BucketSettings): Invoke {
  return rejectBadArguments ? rejecting : throwing;
}

const rejecting: Invoke = (method) => {
  try {
    return method();
  } catch (error) {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is what was thrown
    return Promise.reject(error);
  }
};

const throwing: Invoke = (method) => method();
