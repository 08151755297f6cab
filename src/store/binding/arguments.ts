/**
 * The platform's conversions and checks of arguments, with the platform's error messages: Web IDL
 * conversions, as workerd's own bindings apply them.
 */
import type { BucketSettings } from "../core/operations.ts";
import { hideOwnFrames } from "../client/failure.ts";

/** @throws TypeError when the call has fewer arguments than the method needs */
export function requireArguments(
  given: IArguments,
  method: string,
  types: readonly string[],
): void {
  const missing = types[given.length];
  if (missing !== undefined) throw argumentError(method, given.length + 1, missing);
}

export function argumentError(method: string, position: number, type: string): TypeError {
  return parameterError(method, position, `not of type '${type}'`);
}

/** @param method with its class: `StoreBucket.head` */
export function parameterError(method: string, position: number, problem: string): TypeError {
  const [owner, name] = method.split(".");
  return new TypeError(
    `Failed to execute '${name}' on '${owner}': parameter ${position} is ${problem}.`,
  );
}

export function fieldError(struct: string, field: string, type: string): TypeError {
  return new TypeError(
    `Incorrect type for the '${field}' field on '${struct}': ` +
      `the provided value is not of type '${type}'.`,
  );
}

export function elementError(index: number, type: string): TypeError {
  return new TypeError(
    `Incorrect type for array element ${index}: the provided value is not of type '${type}'.`,
  );
}

/** A `USVString`. A symbol throws, as in every implicit conversion. */
export function toText(value: unknown): string {
  // oxlint-disable-next-line typescript/no-unnecessary-template-expression -- String() takes symbols
  return `${value as string}`.toWellFormed();
}

/** A number, by implicit conversion. A symbol and a BigInt throw. */
export function toNumber(value: unknown): number {
  // `Number(value)` would take a BigInt.
  return +(value as object);
}

/** A number as a 32-bit integer. */
export function toInteger(value: unknown): number {
  const number = Math.trunc(toNumber(value));
  if (Math.abs(number) > 2147483647 && number !== -2147483648 && Number.isFinite(number)) {
    throw new TypeError(
      "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
    );
  }
  return Number.isFinite(number) ? number + 0 : 0;
}

export function toOptions(
  value: unknown,
  method: string,
  position: number,
  type: string,
): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw argumentError(method, position, type);
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** Node has several `Headers` classes: its own, and those of libraries such as Miniflare's undici. */
export function isHeaders(value: unknown): value is Headers {
  return value instanceof Headers || Object.prototype.toString.call(value) === "[object Headers]";
}

export function textField(
  options: Record<string, unknown>,
  struct: string,
  field: string,
): string | undefined {
  const value = options[field];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw fieldError(struct, field, "string");
  return value.toWellFormed();
}

/** A field that must be a date, or a number of milliseconds since the epoch. */
export function dateField(
  options: Record<string, unknown>,
  struct: string,
  field: string,
): number | undefined {
  const value = options[field];
  if (value === undefined) return undefined;
  if (!(value instanceof Date) && typeof value !== "number") {
    throw fieldError(struct, field, "date");
  }
  const time = value.valueOf();
  if (!Number.isFinite(time)) {
    throw new TypeError("The value cannot be converted because it is not a valid Date.");
  }
  // The years in the platform's texts are wrong: the limits are in 1677 and in 2262.
  if (time >= dateMillisecondsMax) {
    throw new TypeError("This API doesn't support dates after 2189.");
  }
  if (time <= -dateMillisecondsMax) {
    throw new TypeError("This API doesn't support dates before 1687.");
  }
  return Math.trunc(time);
}

/** The platform's dates are nanoseconds in 64 bits. */
const dateMillisecondsMax = 2 ** 63 / 1e6;

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
  } catch (thrown) {
    const error = hideOwnFrames(thrown);
    if (!rejectBadArguments) throw error;
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the error of the method
    return Promise.reject(error);
  }
}
