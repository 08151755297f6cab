import { describe, expect, it } from "vitest";
import type { Bucket } from "../../../store/node/bucket.ts";
import { countObjects } from "./bucket-routes.ts";

/** A bucket that counts two objects of 10 bytes in each step. */
function countedBucket(steps: number) {
  const asked: unknown[] = [];
  const call = async (request: { after?: string }) => {
    asked.push(request.after);
    return {
      objects: 2,
      bytes: 20,
      uploads: 1,
      ...(asked.length < steps && { next: `key-${asked.length}` }),
    };
  };
  return { asked, bucket: { call } as unknown as Pick<Bucket, "call"> };
}

describe("countObjects()", () => {
  it("adds up the steps, each after the last key of the step before", async () => {
    const { bucket, asked } = countedBucket(3);
    const counts = await countObjects(bucket, new AbortController().signal);
    expect(counts).toEqual({ objects: 6, bytes: 60, uploads: 1 });
    expect(asked).toEqual([undefined, "key-1", "key-2"]);
  });

  it("ends when the page goes away", async () => {
    const { bucket, asked } = countedBucket(3);
    await expect(countObjects(bucket, AbortSignal.abort())).rejects.toThrow("aborted");
    expect(asked).toEqual([]);
  });
});
