import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketFolder } from "../../store/core/blob-name.ts";
import { formatBytes } from "../../base/format.ts";
import { bucketOfFolder, findBucket, mergeBuckets } from "./known-buckets.ts";
import { progressLine } from "../../base/progress.ts";

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

describe("bucketOfFolder()", () => {
  it("is the inverse of bucketFolder()", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._-]+$/), (name) => {
        expect(bucketOfFolder(bucketFolder(name))).toBe(name);
      }),
    );
  });
});

describe("numbers", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1023 bytes"],
    [1536, "1.5 KiB"],
    [5 * 1024 ** 3, "5.0 GiB"],
  ])("%i reads %j", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it("of a transfer make a bar where the end is known", () => {
    expect(progressLine("Importing", 3, null, 10)).toBe("Importing 3 files, 10 bytes");
    expect(progressLine("Exporting", 1, 4, 10)).toBe(
      `Exporting ${"█".repeat(6)}${"░".repeat(18)} 25%  1 of 4, 10 bytes`,
    );
  });
});
