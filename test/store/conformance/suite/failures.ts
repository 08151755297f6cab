/**
 * The failure of a call as a value for comparison: the error's class and its whole message.
 *
 * The texts are copied here on purpose. Scripts see these texts, and a suite that imported them
 * from the implementation would accept any spelling mistake.
 */
import { expect } from "vitest";
import { runtime } from "./subject.ts";

export interface Failure {
  error: string;
  message: string;
}

/** Calls `call` and returns its failure, which is a rejected promise or a thrown error. */
export async function failureOf(call: () => unknown): Promise<Failure | { resolved: string }> {
  try {
    const result = await call();
    return { resolved: JSON.stringify(result) ?? String(result) };
  } catch (error) {
    if (!(error instanceof Error)) return { error: typeof error, message: String(error) };
    return { error: error.constructor.name, message: error.message };
  }
}

declare module "vitest" {
  interface Matchers {
    toFailWith(failure: Failure): Promise<void>;
  }
}

expect.extend({
  async toFailWith(call: () => unknown, expected: Failure) {
    const actual = await failureOf(call);
    const message = () => `Expected ${JSON.stringify(expected)}, not ${JSON.stringify(actual)}`;
    return { pass: this.equals(actual, expected), message, actual, expected };
  },
});

export type Action =
  | "head"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "createMultipartUpload"
  | "uploadPart"
  | "completeMultipartUpload"
  | "abortMultipartUpload";

const texts = {
  10011: "Your proposed upload is smaller than the minimum allowed object size.",
  10012: "Your metadata headers exceed the maximum allowed metadata size.",
  10020: "The specified object name is not valid.",
  10022: "MaxKeys params must be positive integer <= 1000.",
  10024: "The specified multipart upload does not exist.",
  10025: "One or more of the specified parts could not be found.",
  10027: "The number of keys in the request must be between 1 and 1000 inclusive.",
  10039: "The requested range is not satisfiable",
  10048: "There was a problem with the multipart upload.",
  100100: "Your proposed upload exceeds the maximum allowed object size.",
} as const;

export type ErrorCode = keyof typeof texts;

/** An error of the store: an `Error` with the message `<action>: <text> (<code>)`. */
export function storeError(action: Action, code: ErrorCode): Failure {
  return { error: "Error", message: `${action}: ${texts[code]} (${code})` };
}

/** Error 10037, whose message contains the given and the actual hash. */
export function checksumError(name: string, { given, actual }: Record<"given" | "actual", string>) {
  const message =
    `put: The ${name} checksum you specified did not match what we received.\n` +
    `You provided a ${name} checksum with value: ${given}\n` +
    `Actual ${name} was: ${actual} (10037)`;
  return { error: "Error", message };
}

export function plainError(message: string): Failure {
  return { error: "Error", message };
}

export function typeError(message: string): Failure {
  return { error: "TypeError", message };
}

export function rangeError(message: string): Failure {
  return { error: "RangeError", message };
}

/** A TypeError with any message: the specification does not define the text. */
export const anyTypeError: Failure = { error: "TypeError", message: expect.any(String) };

/**
 * An error of the platform's streams and bodies. The text is workerd's. Node's text differs, and
 * the store has no influence on it.
 */
export function streamError(message: string): Failure {
  return runtime === "workerd" ? typeError(message) : anyTypeError;
}

const ofUploads = new Set(["uploadPart", "complete", "abort"]);

/** The platform's text for a parameter of the wrong type. `index` counts from 1. */
export function parameterError(method: string, index: number, type: string): Failure {
  const owner = ofUploads.has(method)
    ? "StoreMultipartUpload"
    : method === "writeHttpMetadata"
      ? "StoreObject"
      : "StoreBucket";
  return typeError(
    `Failed to execute '${method}' on '${owner}': parameter ${index} is not of type '${type}'.`,
  );
}

/** The platform's text for a field of the wrong type. */
export function fieldError(field: string, on: string, type: string): Failure {
  return typeError(
    `Incorrect type for the '${field}' field on '${on}': ` +
      `the provided value is not of type '${type}'.`,
  );
}

export const notAString = typeError("Cannot convert a Symbol value to a string");
export const notANumber = typeError("Cannot convert a Symbol value to a number");
export const invalidDate = typeError(
  "The value cannot be converted because it is not a valid Date.",
);
export const farDate = typeError("This API doesn't support dates after 2189.");
export const notAnInteger32 = typeError(
  "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
);

/** The type of a value in the error texts of put() and uploadPart(). */
export const valueTypes = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";
