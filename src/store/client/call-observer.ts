/**
 * How a test that runs in the script's isolate observes the calls of the script's buckets.
 *
 * All bindings of an isolate share one observer. Outside of tests there is none, and a call costs
 * one look at `current`.
 */
import type { Operation } from "../core/operations.ts";
import type { OutcomeMessage } from "../transport/message.ts";

export interface CallObserver {
  /** The layer of isolation of a call that is made now. */
  layer(): number | undefined;
  record(
    bucketName: string,
    operation: Operation,
    answer: OutcomeMessage,
    layer: number | undefined,
  ): void;
}

export const observation: { current: CallObserver | undefined } = { current: undefined };
