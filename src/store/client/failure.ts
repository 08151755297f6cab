/** The errors that callers of the binding receive. */
import { bindingMessage, StoreError, type StoreErrorCode } from "../core/errors.ts";
import { explainRefusal, type RefusedOperation } from "../core/explain-refusal.ts";
import type { Method } from "../core/methods.ts";
import type { Outcome, Result } from "../core/operations.ts";

/** @throws Error when the bucket has refused the operation */
export function settle<M extends Method>(
  request: { readonly method: M } & RefusedOperation,
  outcome: Outcome<M>,
): Result<M> {
  if (outcome.ok) return outcome.value;
  const { code, text } = outcome;
  throw new Error(bindingMessage(request.method, { code, text }), reasonOf(request, code));
}

/** The reason as the cause of an error. The cause has no stack of its own. */
export function reasonOf(request: RefusedOperation, code: StoreErrorCode): ErrorOptions {
  const reason = explainRefusal(request, code);
  if (reason === null) return {};
  const cause = new Error(reason);
  cause.stack = String(cause);
  return { cause };
}

/** The error of a rule that was broken before the bucket was called. */
export function refusal(
  method: Method,
  { code, message }: StoreError,
  options?: ErrorOptions,
): Error {
  return new Error(bindingMessage(method, { code, text: message }), options);
}

/**
 * The error of a lost call: it is not known whether the bucket has executed the operation. A call in
 * global scope is not lost: the platform refuses it, and its error says so.
 */
export function internalError(method: Method, cause: unknown): Error {
  if (cause instanceof Error && cause.message.startsWith(globalScopeText)) return cause;
  return refusal(method, new StoreError(10001), { cause });
}

/** How the platform's error for I/O in global scope begins. */
const globalScopeText = "Disallowed operation called within global scope.";

/** The error of an object whose file is missing or has another size. */
export function damagedError(key: string, cause: Error | undefined): Error {
  const text = damagedText(key, cause);
  return new Error(bindingMessage("get", { code: 10001, text }), { cause });
}

export function damagedText(key: string, cause: Error | undefined): string {
  return (
    `Cannot read the content of "${key}": ${cause?.message}. ` +
    `The object is damaged; put it again or delete it.`
  );
}
