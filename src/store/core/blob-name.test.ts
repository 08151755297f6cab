import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketFolder, bucketOfFolder, isAbandoned, makeBlobName } from "./blob-name.ts";

const random = "0123456789abcdef0123456789abcdef";
const ended = "00000000000000aa";
const running = "00000000000000bb";
const blob = makeBlobName(ended, random);

it("makeBlobName() joins the run id and the random digits", () => {
  expect(blob).toBe(`00000000000000aa.${random}`);
});

describe("isAbandoned()", () => {
  it.each([
    ["a blob of an ended run", blob, true],
    ["an unfinished blob of an ended run", `.kj-tmp.123.4.${blob}.partial`, true],
    ["a blob of an active run", makeBlobName(running, random), false],
    [
      "an unfinished blob of an active run",
      `.kj-tmp.123.4.${makeBlobName(running, random)}.partial`,
      false,
    ],
    ["a copy with a prefix", `backup.${blob}`, false],
    ["a name with a suffix", `${blob}.txt`, false],
    ["an unfinished name without its prefix", `${blob}.partial`, false],
    ["a name that is too short", blob.slice(0, -1), false],
    ["a name in upper case", blob.toUpperCase(), false],
    ["any other file", "notes.txt", false],
  ])("decides on %s", (_, fileName, abandoned) => {
    expect(isAbandoned(fileName, [running])).toBe(abandoned);
  });
});

describe("bucketFolder()", () => {
  it("keeps a lower-case name", () => {
    expect(bucketFolder("my-bucket.2_x")).toBe("my-bucket.2_x");
  });

  it("makes different folders for names that differ only in case", () => {
    const folders = ["photos", "Photos", "PHOTOS", "phOtos"].map(bucketFolder);
    expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(4);
  });
});

it("bucketOfFolder() is the inverse of bucketFolder()", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9._-]+$/), (name) => {
      expect(bucketOfFolder(bucketFolder(name))).toBe(name);
    }),
  );
});
