/** The errors that callers of the binding receive. */
import {
  bindingMessage,
  failureOf,
  StoreError,
  type Method,
  type ServiceFailure,
} from "../core/errors.ts";
import type { Outcome, Result, AnswerFault } from "../core/operations.ts";
import { type RefusedOperation, explainRefusal } from "../core/explain-refusal.ts";

export function settle<M extends Method>(
  request: { readonly method: M } & RefusedOperation,
  outcome: Outcome<M>,
): Result<M> {
  if (outcome.ok) return outcome.value;
  const { code, text, failure } = outcome;
  throw refusal(request.method, { code, message: text, failure }, reasonOf(request, outcome));
}

/** The reason as the cause of an error. The cause has no stack of its own. */
export function reasonOf(
  request: RefusedOperation,
  error: Parameters<typeof explainRefusal>[1],
): ErrorOptions {
  const reason = explainRefusal(request, error);
  if (reason === null) return {};
  const cause = new Error(reason);
  cause.stack = String(cause);
  return { cause };
}

/** The error that the caller receives. The fields of a failure of an S3 service are its properties. */
export function refusal(
  method: Method,
  { code, message, failure }: Pick<StoreError, "code" | "message" | "failure">,
  options?: ErrorOptions,
): Error {
  const error = new Error(bindingMessage(method, { code, text: message }), options);
  return failure === undefined ? error : Object.assign(error, failure);
}

/** What Miniflare's proxy keeps of an error: the message, the stack and the cause. */
interface PackedCause {
  readonly failure: ServiceFailure;
  readonly cause?: unknown;
}

export function packFailure(error: unknown): never {
  if (error instanceof Error && "outcome" in error) {
    const failure = failureOf(error as Error & ServiceFailure);
    const { cause } = error;
    error.cause = { failure, ...(cause !== undefined && { cause }) } satisfies PackedCause;
  }
  throw error;
}

/** The error of a call from Node, with the properties that the script in workerd would see. */
export function unpackFailure(error: unknown): never {
  const unpacked = error as Error;
  const { failure, cause } = (unpacked.cause ?? {}) as Partial<PackedCause>;
  if (failure === undefined) throw error;
  if (cause === undefined) delete unpacked.cause;
  else unpacked.cause = cause;
  throw Object.assign(unpacked, failure);
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

/**
 * The frames of the binding in the stack of an error. A user looks for the line of the script, and the
 * binding is one line of minified code.
 */

/** The names that the plugin gives the modules of bindings. */
const ownFrame = /^\s+at .*\bledge-internal:store-(?:remote-)?binding\b/;

export function hideOwnFrames<Thrown>(error: Thrown): Thrown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const lines = error.stack.split("\n");
  const others = lines.filter((line) => !ownFrame.test(line));
  if (others.some((line) => /^\s+at /.test(line))) error.stack = others.join("\n");
  return error;
}

/** Applies the part of a fault that happens before the answer arrives. */
export async function applyFault({ delayMilliseconds, lost, late }: AnswerFault): Promise<void> {
  if (late) await neverContinue();
  if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
  if (lost === "answer") throw connectionLost();
}

/**
 * The test that made the call has ended, and its code must not continue during the next test.
 * The runtime reports a promise that nothing can settle as code that hangs, so a timer waits.
 */
export async function neverContinue(): Promise<never> {
  for (;;) await delay(timeoutMillisecondsMax);
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The longest delay of `setTimeout`: 24 days. */
const timeoutMillisecondsMax = 2 ** 31 - 1;

/** The error of the platform, with its text. */
export function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
