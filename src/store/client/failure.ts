/** Failures, worded as the binding's callers know them. */
import { bindingMessage, StoreError } from "../core/errors.ts";
import type { Method, Outcome, Result } from "../core/operations.ts";

/** @throws Error when the bucket has refused the operation */
export function settle<M extends Method>(method: M, outcome: Outcome<M>): Result<M> {
  if (outcome.ok) return outcome.value;
  throw new Error(bindingMessage(method, outcome));
}

/** A rule that was broken before the bucket was asked. */
export function refusal(method: Method, { code, message }: StoreError): Error {
  return new Error(bindingMessage(method, { code, text: message }));
}

/** Nobody knows whether it was executed, or what the answer would have been. */
export function internalError(method: Method, cause: unknown): Error {
  const { code, message } = new StoreError(10001);
  return new Error(bindingMessage(method, { code, text: message }), { cause });
}

/** The object's row is there and its file is not, or not whole. It says so, and what to do. */
export function damagedError(key: string, cause: Error | undefined): Error {
  const text =
    `Cannot read the content of "${key}": ${cause?.message}. ` +
    `The object is damaged; put it again or delete it.`;
  return new Error(bindingMessage("get", { code: 10001, text }), { cause });
}
