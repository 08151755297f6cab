import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketFolder } from "../../store/core/blob-name.ts";
import { parseAddress } from "./object-address.ts";
import { bucketOfFolder, findBucket, mergeBuckets } from "./known-buckets.ts";

const buckets = mergeBuckets(
  [
    { binding: "PHOTOS", bucketName: "photos" },
    { binding: "SAME", bucketName: "photos" },
    { binding: "OLD", bucketName: "live", previewBucketName: "local" },
  ],
  ["photos", "left"],
);

describe("buckets", () => {
  it("are each there once, by name", () => {
    expect(buckets.map(({ bucketName, bindings }) => [bucketName, ...bindings])).toEqual([
      ["left"],
      ["local", "OLD"],
      ["photos", "PHOTOS", "SAME"],
    ]);
  });

  it.each([
    ["photos", "photos"],
    ["SAME", "photos"],
    ["live", "local"],
    ["OLD", "local"],
    ["left", "left"],
  ])("are found as %j", (word, name) => {
    expect(findBucket(buckets, word).bucketName).toBe(name);
  });

  it("that are misspelt are guessed", () => {
    expect(() => findBucket(buckets, "PHOTO")).toThrow('Did you mean "photos"?');
    expect(() => findBucket([], "photos")).toThrow("There are none at all");
  });

  it("are known by their folders", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._-]+$/), (name) => {
        expect(bucketOfFolder(bucketFolder(name))).toBe(name);
      }),
    );
  });
});

describe("parseAddress()", () => {
  it("takes all behind the first slash as the key", () => {
    expect(parseAddress("photos/a//b/")).toEqual({ bucket: "photos", key: "a//b/" });
    expect(parseAddress("photos//")).toEqual({ bucket: "photos", key: "/" });
  });

  it.each(["photos", "photos/", "/key", "", `photos/${"x".repeat(1025)}`])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(/does not name an object|not valid/);
  });
});
