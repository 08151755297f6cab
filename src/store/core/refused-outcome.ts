/** The outcome of an operation that the store cannot execute, for a reason that is not a rule. */
import type { DiskProblem } from "../../state/disk.ts";
import type { Outcome } from "./operations.ts";

/** @param problem what happened, why, and what to do */
export function refusedOutcome({ text, lacksSpace }: DiskProblem): Outcome {
  return { ok: false, code: 10001, text, ...(lacksSpace && { lacksSpace }) };
}
