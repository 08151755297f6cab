/** The outcome of an operation that the store cannot execute, for a reason that is not a rule. */
import { StoreError } from "./errors.ts";
import type { Outcome } from "./operations.ts";

/** @param text what happened, why, and what to do */
export function refusedOutcome(text: string): Outcome {
  const { code, message } = new StoreError(10001, text);
  return { ok: false, code, text: message };
}
