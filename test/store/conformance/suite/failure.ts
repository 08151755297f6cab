/**
 * How a call failed, as a value that can be compared: the error's class and its whole message.
 *
 * The texts stand here a second time on purpose. They are what scripts see, and a suite that
 * imported them from the implementation would agree with any typing mistake in it.
 */
import { expect } from "vitest";
import type { Subject } from "./subject.ts";

export interface Failure {
  error: string;
  message: string;
}

/** Calls `call` and tells how it failed: by a rejected promise or by throwing. */
export async function failureOf(call: () => unknown): Promise<Failure | { resolved: string }> {
  try {
    const result = await call();
    return { resolved: JSON.stringify(result) ?? String(result) };
  } catch (error) {
    if (!(error instanceof Error)) return { error: typeof error, message: String(error) };
    return { error: error.constructor.name, message: error.message };
  }
}

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

/** An error of the store: a plain `Error`, `<action>: <text> (<code>)`. */
export function storeError(action: Action, code: keyof typeof texts): Failure {
  return { error: "Error", message: `${action}: ${texts[code]} (${code})` };
}

/** Error 10037, which says what was given and what was received. */
export function checksumError(algorithm: string, hashes: { given: string; actual: string }) {
  return {
    error: "Error",
    message:
      `put: The ${algorithm} checksum you specified did not match what we received.\n` +
      `You provided a ${algorithm} checksum with value: ${hashes.given}\n` +
      `Actual ${algorithm} was: ${hashes.actual} (10037)`,
  };
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

/** A TypeError whose text is not specified. */
export const anyTypeError: Failure = { error: "TypeError", message: expect.any(String) };

/**
 * An error of the platform's own streams and bodies. The texts are workerd's; Node's differ, and
 * are nothing that the store decides.
 */
export function streamError(subject: Subject, message: string): Failure {
  return subject.runtime === "workerd" ? typeError(message) : anyTypeError;
}

/** The platform's text for a parameter of the wrong type. */
export function parameterError(
  method: string,
  parameter: { index: number; type: string; on?: string },
): Failure {
  const { index, type, on = "StoreBucket" } = parameter;
  return typeError(
    `Failed to execute '${method}' on '${on}': parameter ${index} is not of type '${type}'.`,
  );
}

/** The platform's text for a field of the wrong type. */
export function fieldError(field: string, expected: { on: string; type: string }): Failure {
  return typeError(
    `Incorrect type for the '${field}' field on '${expected.on}': ` +
      `the provided value is not of type '${expected.type}'.`,
  );
}

/** What put() and uploadPart() say they take. */
export const valueTypes = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";
