/**
 * Faults and latency of buckets and of DNS queries, and the store's clock, switched on from the page or by
 * `ledge dev --fault`. They end with the process that serves the page.
 *
 *     GET /api/faults           FaultsState
 *     PUT /api/faults  Faults   FaultsState      replaces all; 400 with a sentence for a wrong line
 */
export interface Faults {
  /** In the words of `--fault`: `put:photos/*:10001`, `dns:servfail:www.example.com/A`. */
  readonly faults: readonly string[];
  /** Added to each call of a bucket. */
  readonly latencyMilliseconds: number;
  /** How far the store's clock is ahead of the machine's. */
  readonly clockOffsetMilliseconds: number;
}

export interface FaultsState extends Omit<Faults, "faults"> {
  /** `hits`: how many calls or queries the fault has hit. */
  readonly faults: readonly { readonly text: string; readonly hits: number }[];
  /** The store's time: milliseconds since the epoch. */
  readonly storeTime: number;
  /** Why some faults are not in force, or `null`. */
  readonly problem: string | null;
  /** Faults that people often want. */
  readonly presets: readonly { readonly label: string; readonly text: string }[];
}
