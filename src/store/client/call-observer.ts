/**
 * How a test that runs in the script's own isolate follows what the script does to its buckets.
 * One for all bindings of an isolate; outside of tests there is none, and calls only look.
 */
import type { Operation, Outcome } from "../core/operations.ts";

export interface Observer {
  /** The layer of isolation to which a call that is made now belongs. */
  layer(): number | undefined;
  note(bucketName: string, operation: Operation, outcome: Outcome): void;
}

export const observation: { current: Observer | undefined } = { current: undefined };
