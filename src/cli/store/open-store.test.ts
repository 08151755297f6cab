import { describe, expect, it } from "vitest";
import { findBucket, mergeBuckets, parseAddress } from "./open-store.ts";

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

describe("parseAddress()", () => {
  it("takes everything after the first slash as the key", () => {
    expect(parseAddress("photos/a//b/")).toEqual({ bucket: "photos", key: "a//b/" });
    expect(parseAddress("photos//")).toEqual({ bucket: "photos", key: "/" });
  });

  it.each(["photos", "photos/", "/key", "", `photos/${"x".repeat(1025)}`])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(/does not name an object|longer than 1024 bytes/);
  });
});
