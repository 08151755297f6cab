/** Percentiles of durations, by the nearest rank: each is a duration that was measured. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** `null` without values. */
export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const rank = (percent: number): number =>
    sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] as number;
  return { p50: rank(50), p95: rank(95), p99: rank(99) };
}
