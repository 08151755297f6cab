import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bucket } from "../../store/node/bucket.ts";
import { countObjects, decodeUploadCursor, encodeUploadCursor } from "./buckets.ts";
import { CallError } from "./call.ts";

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

/** The error that is no `CallError`, or `null`. */
function otherError(cursor: string): unknown {
  try {
    decodeUploadCursor(cursor);
    return null;
  } catch (error) {
    return error instanceof CallError ? null : error;
  }
}

describe("decodeUploadCursor()", () => {
  it("returns the position that the cursor was made of", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, fc.option(text, { nil: undefined }), (key, uploadId) => {
        const position = uploadId === undefined ? { key } : { key, uploadId };
        expect(decodeUploadCursor(encodeUploadCursor(position))).toEqual(position);
      }),
    );
  });

  it("throws nothing but CallError", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(otherError(text)).toBeNull();
        expect(otherError(Buffer.from(text).toString("base64url"))).toBeNull();
      }),
    );
  });
});
