/** A value that is compared with a limit instead of with R2's time. */
export interface Check {
  readonly name: string;
  readonly unit: "MiB" | "ms" | "×";
  readonly ours: number;
  readonly r2?: number;
  /** The largest value of `ours` that passes. */
  readonly limit: number;
}

export const passes = ({ ours, limit }: Check): boolean => ours <= limit;
