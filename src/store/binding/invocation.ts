/**
 * How a method of the binding is invoked, apart from its arguments: the check of `this`, and the way
 * it reports a bad argument.
 */
import type { BucketSettings } from "../core/bucket-settings.ts";
import { hideOwnFrames } from "../client/own-frames.ts";

/**
 * Throws the platform's error for a method that is called without its object. The platform throws
 * this error, and never rejects with it.
 */
export function requireOwner(owned: boolean): asserts owned {
  if (owned) return;
  throw new TypeError(
    "Illegal invocation: function called with incorrect `this` reference. " +
      "Call it as a method: env.BUCKET.get(key).",
  );
}

/** Rejects with the error of a write, whose stack begins in the script. */
export async function inScript<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw hideOwnFrames(error);
  }
}

/**
 * A bad argument rejects the promise of a method. In scripts with a compatibility date before
 * 2022-10-31, the method throws (the platform's flag `capture_async_api_throws`).
 */
export function invoke<T>(
  { rejectBadArguments }: BucketSettings,
  method: () => Promise<T>,
): Promise<T> {
  try {
    return method();
  } catch (thrown) {
    const error = hideOwnFrames(thrown);
    if (!rejectBadArguments) throw error;
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the error of the method
    return Promise.reject(error);
  }
}
