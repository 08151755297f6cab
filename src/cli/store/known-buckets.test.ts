import { describe, expect, it } from "vitest";
import { findBucket, mergeBuckets } from "./known-buckets.ts";

const buckets = mergeBuckets(
  [
    { binding: "PHOTOS", bucketName: "photos" },
    { binding: "SAME", bucketName: "photos" },
    { binding: "OLD", bucketName: "live", previewBucketName: "local" },
  ],
  ["photos", "left"],
);

describe("mergeBuckets()", () => {
  it("lists each bucket once, sorted by name", () => {
    expect(buckets.map(({ bucketName, bindings }) => [bucketName, ...bindings])).toEqual([
      ["left"],
      ["local", "OLD"],
      ["photos", "PHOTOS", "SAME"],
    ]);
  });
});

describe("findBucket()", () => {
  it.each([
    ["photos", "photos"],
    ["SAME", "photos"],
    ["live", "local"],
    ["OLD", "local"],
    ["left", "left"],
  ])("finds %j", (word, name) => {
    expect(findBucket(buckets, word).bucketName).toBe(name);
  });

  it("suggests a bucket for a misspelt name", () => {
    expect(() => findBucket(buckets, "PHOTO")).toThrow('Did you mean "photos"?');
    expect(() => findBucket([], "photos")).toThrow("The project has no buckets");
  });
});
