import { describe, expect, it } from "vitest";
import { bucketFolder, isAbandoned, makeBlobName } from "./blob-name.ts";

const random = "0123456789abcdef0123456789abcdef";
const ended = "00000000000000aa";
const running = "00000000000000bb";
const blob = makeBlobName(ended, random);

it("makeBlobName() is the runId and the random digits", () => {
  expect(blob).toBe(`00000000000000aa.${random}`);
});

describe("isAbandoned()", () => {
  it.each([
    ["a blob of a runId that has ended", blob, true],
    ["an unfinished blob of a runId that has ended", `.kj-tmp.123.4.${blob}.partial`, true],
    ["a blob of a runId that runs", makeBlobName(running, random), false],
    [
      "an unfinished blob of a runId that runs",
      `.kj-tmp.123.4.${makeBlobName(running, random)}.partial`,
      false,
    ],
    ["a copy that somebody made", `backup.${blob}`, false],
    ["a note beside it", `${blob}.txt`, false],
    ["something that only looks unfinished", `${blob}.partial`, false],
    ["a name too short", blob.slice(0, -1), false],
    ["a name in upper case", blob.toUpperCase(), false],
    ["anything else", "notes.txt", false],
  ])("of %s", (_, fileName, abandoned) => {
    expect(isAbandoned(fileName, [running])).toBe(abandoned);
  });
});

describe("bucketFolder()", () => {
  it("keeps a name in lower case", () => {
    expect(bucketFolder("my-bucket.2_x")).toBe("my-bucket.2_x");
  });

  it("tells names apart that differ in case only", () => {
    const folders = ["photos", "Photos", "PHOTOS", "phOtos"].map(bucketFolder);
    expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(4);
  });
});
