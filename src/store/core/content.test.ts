import * as fc from "fast-check";
import { expect, it, describe } from "vitest";
import {
  decodeSegments,
  encodeSegments,
  segmentRange,
  sliceSegments,
  bucketFolder,
  bucketOfFolder,
  databaseMark,
  isAbandoned,
  isBlobName,
  isForeignMark,
  makeBlobName,
  fitBodyToPage,
} from "./content.ts";

const place = fc.oneof(fc.nat(), fc.string());
const segments = fc.array(
  fc.tuple(fc.nat({ max: 5 }), place).map(([size, where]) => ({ size, place: where, md5: "m" })),
  { maxLength: 6 },
);

const [a, b] = [
  { size: 3, place: 1, md5: "x" },
  { size: 4, place: "b", md5: "y" },
] as const;

it("sliceSegments() selects the same bytes as a slice of the whole content", () => {
  fc.assert(
    fc.property(segments, fc.nat(), fc.nat(), (parts, first, second) => {
      const bytes = parts.flatMap((segment) =>
        Array.from({ length: segment.size }, (_, index) => ({ segment, index })),
      );
      const offset = first % (bytes.length + 1);
      const length = second % (bytes.length - offset + 1);
      const slices = sliceSegments(parts, { offset, length });
      const taken = slices.flatMap((slice) =>
        Array.from({ length: slice.length }, (_, index) => ({
          segment: slice.segment,
          index: slice.offset + index,
        })),
      );
      expect(taken).toStrictEqual(bytes.slice(offset, offset + length));
      expect(slices.every((slice) => slice.length > 0)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it("segmentRange() is the range of a segment, counted from 1", () => {
  expect(segmentRange([a, b], 1)).toEqual({ offset: 0, length: 3 });
  expect(segmentRange([a, b], 2)).toEqual({ offset: 3, length: 4 });
  for (const number of [-1, 0, 3, 1.5]) expect(segmentRange([a, b], number)).toBeNull();
});

it("encodeSegments() writes the size, the place and the hash of each segment", () => {
  expect(encodeSegments([a, b])).toBe('[[3,1,"x"],[4,"b","y"]]');
  expect(encodeSegments([])).toBe("[]");
});

it("decodeSegments() reads back what encodeSegments() writes", () => {
  fc.assert(
    fc.property(segments, (parts) => {
      expect(decodeSegments(encodeSegments(parts))).toStrictEqual(parts);
    }),
  );
});

const random = "0123456789abcdef0123456789abcdef";
const ended = "00000000000000aa";
const running = "00000000000000bb";
const blob = makeBlobName(ended, random);

it("makeBlobName() joins the run id and the random digits", () => {
  expect(blob).toBe(`00000000000000aa.${random}`);
});

it("isBlobName() knows finished blobs only", () => {
  const names = [blob, `.${blob}.123.4.tmp`, `${blob}.txt`, databaseMark(ended)];
  expect(names.filter(isBlobName)).toEqual([blob]);
});

describe("isAbandoned()", () => {
  it.each([
    ["a blob of an ended run", blob, true],
    ["an unfinished blob of an ended run", `.kj-tmp.123.4.${blob}.partial`, true],
    ["an unfinished blob of the newest workerd", `.${blob}.123.4.tmp`, true],
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

it("bucketFolder() makes different folders for names that differ only in case", () => {
  const folders = ["photos", "Photos", "PHOTOS", "phOtos"].map(bucketFolder);
  expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(4);
});

it("bucketOfFolder() is the inverse of bucketFolder()", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9._-]+$/), (name) => {
      expect(bucketOfFolder(bucketFolder(name))).toBe(name);
    }),
  );
});

it.each([
  [0, 0],
  [100, 100],
  [256, 243],
  [512, 499],
  [1010, 1010],
  [1024, 1010],
  [1100, 1100],
  [2048, 2032],
  [4057, 4057],
  [4076, 4057],
  [4096, 4057],
  [8192, 8192],
  [131_072, 131_072],
])("fitBodyToPage() of %d bytes is %d", (size, kept) => {
  expect(fitBodyToPage(size)).toBe(kept);
});

/** A row with more than 4057 bytes continues on other pages. */
const rowsPerPage = (size: number) => (size > 4057 ? 0 : Math.floor(4088 / (size + 12)));

it("fitBodyToPage() cuts off at most 48 bytes, and only if more rows fit into a page", () => {
  const sizes = Array.from({ length: 10_001 }, (_, size) => size);
  const wrong = sizes.filter((size) => {
    const kept = fitBodyToPage(size);
    const pays = kept === size || rowsPerPage(kept) > rowsPerPage(size);
    return !pays || kept > size || size - kept > 48;
  });
  expect(wrong).toEqual([]);
});

describe("isForeignMark()", () => {
  const database = { databaseId: "00000000000000aa", generation: 5 };

  it.each([
    ["the mark of the database", "database.00000000000000aa", "5", false],
    ["a mark that has not followed yet", "database.00000000000000aa", "4", false],
    ["a mark of an earlier version", "database.00000000000000aa", "", false],
    ["a mark of a newer state", "database.00000000000000aa", "6", true],
    ["the mark of another database", "database.00000000000000bb", "1", true],
    ["a blob", makeBlobName("0".repeat(16), "1".repeat(32)), "9", false],
  ])("is right for %s", (_, name, text, expected) => {
    expect(isForeignMark({ name, text }, database)).toBe(expected);
  });
});
