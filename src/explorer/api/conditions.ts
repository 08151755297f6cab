/**
 * Unusual conditions, switched on from the page or by `ledge dev --fault`: faults and latency of
 * buckets and of DNS queries, and the store's clock. The conditions end with the process that serves
 * the page.
 *
 *     GET /api/conditions               ConditionsState
 *     PUT /api/conditions  Conditions   ConditionsState      replaces all conditions
 */
export interface Conditions {
  readonly bucketFaults: readonly BucketFault[];
  readonly dnsFaults: readonly DnsFault[];
  /** Added to each call of a bucket. */
  readonly latencyMilliseconds: number;
  /** How far the store's clock is ahead of the machine's. */
  readonly clockOffsetMilliseconds: number;
}

/** A fault in the words of `--fault`: `put:photos/*:10001`. */
interface BucketFault {
  readonly text: string;
}

/** A fault in the words of `--fault`: `dns:servfail:www.example.com/A`. */
interface DnsFault {
  readonly text: string;
}

export interface ConditionsState extends Conditions {
  /** How many calls or queries each fault has hit, by its text. */
  readonly hits: Readonly<Record<string, number>>;
  /** The store's time: milliseconds since the epoch. */
  readonly storeTime: number;
  /** Why some conditions are not in force, or `null`. */
  readonly problem: string | null;
}
