/** What is held against a limit rather than against R2's time. */
export interface Check {
  readonly name: string;
  readonly unit: "MiB" | "ms" | "×";
  readonly ours: number;
  readonly r2?: number;
  /** Ours is good up to this. */
  readonly limit: number;
}

export const passes = ({ ours, limit }: Check): boolean => ours <= limit;
