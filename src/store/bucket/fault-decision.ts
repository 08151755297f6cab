/** What a bucket does with an operation that a fault hits. */
import type { Operation, Outcome } from "../core/operations.ts";
import type { StoreFault } from "../core/store-fault.ts";
import type { AnswerFault } from "../transport/message.ts";

export interface Decision {
  readonly execute: boolean;
  /** Replaces the outcome of the bucket. */
  readonly replacement?: Outcome;
  readonly fault?: AnswerFault;
}

/** The outcome of an operation that is not executed. Its fault hides it from the caller. */
export const notExecuted: Outcome = { ok: false, code: 10001, text: "Not executed" };

export function decideFault(
  { method }: Operation,
  { effect, when }: Pick<StoreFault, "effect" | "when">,
): Decision {
  switch (effect.kind) {
    case "slow":
      return { execute: true, fault: { delayMilliseconds: effect.milliseconds } };
    case "fail": {
      const replacement = { ok: false, code: effect.code, text: effect.text } as Outcome;
      return { execute: when === "after", replacement };
    }
    case "drop":
      if (method === "get") {
        return { execute: true, fault: { lost: { afterBytes: effect.afterBytes ?? -1 } } };
      }
      return when === "after"
        ? { execute: true, fault: { lost: "answer" } }
        : { execute: false, replacement: notExecuted, fault: { lost: "answer" } };
  }
}
