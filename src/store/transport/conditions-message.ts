/**
 * The messages of a connection that holds conditions (`endpoint/conditions-socket.ts`), each JSON in
 * bytes.
 *
 * A client sends requests; the endpoint answers them in order, each with a report.
 */
import type { StoreFault } from "../core/store-fault.ts";

export interface RequestedConditions {
  readonly faults: readonly StoreFault[];
  /** Added to each call of a bucket. */
  readonly latencyMilliseconds: number;
  /** How far the store's clock is ahead of the machine's. */
  readonly clockOffsetMilliseconds: number;
}

export interface ConditionsRequest {
  /**
   * Replaces the conditions of this connection; `null` ends them. Without them, the request asks for
   * the report.
   */
  readonly conditions?: RequestedConditions | null;
}

export interface ConditionsReport {
  /** How many calls each fault of this connection has hit, in the order of the faults. */
  readonly hits: readonly number[];
  /** The store's time: milliseconds since the epoch. */
  readonly storeTime: number;
}
