/**
 * The RPC interface of a bucket's Durable Object. Two classes implement it: `BucketObject` in the
 * runtime that owns the databases, and `OwnerBucket` in the runtime of a client process.
 */
import type { Outcome } from "../core/operations.ts";
import { shortAnswer, type ShortAnswer, type ShortCall } from "../core/short-form.ts";
import type { FaultyOutcome, OperationMessage, OutcomeMessage } from "./message.ts";

/** A short answer. In a test its long form may have an envelope. */
export type ShortMessage = ShortAnswer<Outcome | FaultyOutcome>;

export interface BucketService extends Rpc.DurableObjectBranded {
  /** Executes operations in order. Their writes are durable when the answer arrives. */
  execute(messages: OperationMessage[]): OutcomeMessage[] | Promise<OutcomeMessage[]>;
  /** `execute`, for one operation in its short form. Only a call in a test has a `layer`. */
  executeShort(layer: number | undefined, ...call: ShortCall): ShortMessage | Promise<ShortMessage>;
  /** `execute`, for scripts whose compatibility date is older than RPC: a frame in each direction. */
  fetch(request: Request): Promise<Response>;
  /** Removes the files that crashes left. Returns the number of files. */
  collectGarbage(): Promise<number>;
}

export type BucketNamespace = DurableObjectNamespace<BucketService>;

/** The short form of the only answer of `answers`. */
export function shortMessage(answers: readonly OutcomeMessage[]): ShortMessage {
  const answer = answers[0] as OutcomeMessage;
  return "fault" in answer ? answer : shortAnswer(answer);
}
