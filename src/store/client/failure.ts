/** The errors that callers of the binding receive. */
import { bindingMessage, StoreError, type StoreErrorCode, type Method } from "../core/errors.ts";
import type { Outcome, Result } from "../core/operations.ts";
import { utf8Length } from "../core/key.ts";
import {
  deleteKeysMax,
  keyBytesMax,
  listLimitMax,
  metadataBytesMax,
  partBytesMin,
} from "../core/limits.ts";

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

/**
 * Why a bucket refused an operation: the key, and what is wrong with it. The message of the error is
 * the platform's and says neither, so the binding gives the reason as the error's `cause`.
 */

/** What is known of an operation without its content. */
export interface RefusedOperation {
  readonly key?: string;
  readonly keys?: readonly string[];
  readonly uploadId?: string;
  readonly partNumber?: number;
  readonly range?: object;
  readonly limit?: number;
}

/** Longer keys are cut. */
const shownCharactersMax = 80;

/** A sentence, or `null` when the message of the error says everything. */
export function explainRefusal(operation: RefusedOperation, code: StoreErrorCode): string | null {
  const { key, keys, partNumber, range, limit } = operation;
  switch (code) {
    case 10020: {
      const refused = key ?? keys?.find((each) => keyProblem(each) !== null);
      return refused === undefined ? null : keyProblem(refused);
    }
    case 10012:
      return `The metadata${of(key)} has more than ${metadataBytesMax} bytes, with the names.`;
    case 10022:
      return `The limit is ${limit}; it must be from 1 to ${listLimitMax}.`;
    case 10024:
      return `The upload${of(key)} was completed or aborted, has expired, or never existed.`;
    case 10025:
      return `A part${of(key)} has another etag, or was not uploaded.`;
    case 10011:
      return `A part${of(key)} that is not the last has less than ${partBytesMin} bytes.`;
    case 10048:
      return `The parts${of(key)} must have ascending numbers and one size; only the last may be smaller.`;
    case 100100:
      return `The ${partNumber === undefined ? "value" : `part ${partNumber}`}${of(key)} is too large.`;
    case 10027:
      return `The call has ${keys?.length ?? 0} keys; 1 to ${deleteKeysMax} are allowed.`;
    case 10039:
      return `The range ${JSON.stringify(range)} is outside of the object${named(key)}.`;
    case 10037:
      return key === undefined ? null : `The value${of(key)} was not stored.`;
    case 10001:
    case 10005:
    case 10006:
    case 10008:
    case 10031:
    case 10058:
    case 200001:
    case 200002:
    case 200003:
    case 200004:
      return null;
  }
}

function keyProblem(key: string): string | null {
  if (key === "") return "The key is empty.";
  const bytes = utf8Length(key);
  if (bytes <= keyBytesMax) return null;
  return `The key${named(key)} has ${bytes} bytes in UTF-8; at most ${keyBytesMax} are allowed.`;
}

const of = (key: string | undefined): string => (key === undefined ? "" : ` of${named(key)}`);

function named(key: string | undefined): string {
  if (key === undefined) return "";
  const shown = key.length > shownCharactersMax ? `${key.slice(0, shownCharactersMax)}...` : key;
  return ` ${JSON.stringify(shown)}`;
}

/**
 * The frames of the binding in the stack of an error. A user looks for the line of the script, and the
 * binding is one line of minified code.
 */

/** The names that the plugin gives the modules of bindings. */
const ownFrame = /^\s+at .*\bledge-internal:store-(?:remote-)?binding\b/;

/** Removes the frames of the binding, if others are left. Returns the error. */
export function hideOwnFrames<Thrown>(error: Thrown): Thrown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const lines = error.stack.split("\n");
  const others = lines.filter((line) => !ownFrame.test(line));
  if (others.some((line) => /^\s+at /.test(line))) error.stack = others.join("\n");
  return error;
}

/** What a script notices of an injected fault: a delay, a lost connection, or a call that never ends. */

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
