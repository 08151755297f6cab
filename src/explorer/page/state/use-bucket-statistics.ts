/** Counts and sizes of buckets. Each is asked for by itself, because a large bucket takes longer. */
import { useEffect, useState } from "preact/hooks";
import type { BucketStatistics, BucketSummary } from "../../api/buckets.ts";
import { bucketPath, callApi } from "../api-client.ts";

/** Browsers have six connections to a server: some are left for what a person does meanwhile. */
const callsAtOnce = 3;

/** By the name of the bucket; `null` for statistics that failed. */
export type StatisticsByName = ReadonlyMap<string, BucketStatistics | null>;

export function useBucketStatistics(
  buckets: readonly BucketSummary[] | undefined,
): StatisticsByName {
  const [known, setKnown] = useState<StatisticsByName>(new Map());
  useEffect(() => {
    const ended = new AbortController();
    const waiting = buckets?.values() ?? [].values();
    const work = async (): Promise<void> => {
      for (const { name } of waiting) {
        const statistics = await callApi<BucketStatistics>(bucketPath(name), {
          signal: ended.signal,
        }).catch(() => null);
        if (ended.signal.aborted) return;
        setKnown((before) => new Map(before).set(name, statistics));
      }
    };
    for (let call = 0; call < callsAtOnce; call++) void work();
    return () => ended.abort();
  }, [buckets]);
  return known;
}
