/** The numbers of a bucket, counted in steps: calls of scripts are executed between the steps. */
import type { Bucket } from "../../store/node/bucket.ts";
import type { BucketStatistics } from "../api/buckets.ts";

/** A step takes about 4 ms, during which the bucket answers no other call. */
const stepObjects = 5000;

/** @param signal ends the count, when the page does not need it any more */
export async function countObjects(
  bucket: Pick<Bucket, "call">,
  signal: AbortSignal,
): Promise<Pick<BucketStatistics, "objects" | "bytes" | "uploads">> {
  let [objects, bytes] = [0, 0];
  let after: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const step = await bucket.call({
      method: "stats",
      limit: stepObjects,
      ...(after !== undefined && { after }),
    });
    objects += step.objects;
    bytes += step.bytes;
    if (step.next === undefined) return { objects, bytes, uploads: step.uploads };
    after = step.next;
  }
}
