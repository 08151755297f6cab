/**
 * How a method of the binding is invoked, apart from its arguments: the settings of its bucket, the
 * check of `this`, and the way it reports a bad argument.
 */
import type { StorageClass } from "../core/operations.ts";

/** What the configuration and the script's compatibility settings say. */
export interface BucketSettings {
  readonly storageClass: StorageClass;
  /** `true`: `list` follows `include`. `false`: `list` returns all metadata. */
  readonly honorInclude: boolean;
  /** `true`: delimited prefixes keep their delimiter. */
  readonly trailingDelimiter: boolean;
  /** `true`: bad arguments reject. `false`: bad arguments throw. */
  readonly rejectBadArguments: boolean;
  /** Deviation: Node accepts streams of unknown length, because no stream in Node has a known length. */
  readonly allowUnsizedStreams: boolean;
}

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
  } catch (error) {
    if (!rejectBadArguments) throw error;
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the error of the method
    return Promise.reject(error);
  }
}
