/** The failure of a call as a value for comparison: the error's class and its whole message. */
import { expect } from "vitest";
import * as errors from "../../model/rules/errors.ts";
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

export type { Action, ErrorCode } from "../../model/rules/errors.ts";

function failureWith({ name, message }: Error): Failure {
  return { error: name, message };
}

export function storeError(action: errors.Action, code: errors.ErrorCode): Failure {
  return failureWith(errors.storeError(action, code));
}

export function checksumError(name: string, hashes: Record<"given" | "actual", string>): Failure {
  return failureWith(errors.digestError({ name, ...hashes }));
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

/** `position` counts from 1. */
export function parameterError(method: string, position: number, type: string): Failure {
  return failureWith(errors.parameterError(method, { position, type }));
}

export function fieldError(field: string, on: string, type: string): Failure {
  return failureWith(errors.fieldError(field, { on, type }));
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
