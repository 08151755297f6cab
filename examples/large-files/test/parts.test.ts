import { describe, expect, it } from "vitest";
import {
  fileSizeMax,
  missingParts,
  partCount,
  partCountMax,
  partLength,
  partSizeFor,
  partSizeMin,
} from "../src/parts.ts";

const mebibyte = 1024 * 1024;

describe("partSizeFor()", () => {
  it.each([0, 1, 8 * mebibyte, 100 * mebibyte, 79 * 1024 * mebibyte, 2 ** 40, fileSizeMax])(
    "divides %d bytes within the bucket's limits",
    (size) => {
      const partSize = partSizeFor(size);
      expect(partSize).toBeGreaterThanOrEqual(partSizeMin);
      expect(partCount({ size, partSize })).toBeLessThanOrEqual(partCountMax);
    },
  );

  it("grows only above 78 GiB", () => {
    expect(partSizeFor(78 * 1024 * mebibyte)).toBe(8 * mebibyte);
    expect(partSizeFor(79 * 1024 * mebibyte)).toBe(9 * mebibyte);
  });
});

describe("partLength()", () => {
  it.each([0, 1, 9, 10, 11, 20, 25])("covers a file of %d bytes exactly", (size) => {
    const division = { size, partSize: 10 };
    const lengths = missingParts(division, []).map(
      (number) => partLength(division, number) as number,
    );
    expect(lengths.reduce((sum, length) => sum + length)).toBe(size);
    expect(lengths.slice(0, -1).every((length) => length === 10)).toBe(true);
  });

  it.each([0, 4, 1.5, Number.NaN, -1])("returns null for part %d", (number) => {
    expect(partLength({ size: 25, partSize: 10 }, number)).toBeNull();
  });
});

describe("missingParts()", () => {
  it("lists the part numbers that are not done", () => {
    const done = [{ partNumber: 2 }, { partNumber: 9 }];
    expect(missingParts({ size: 25, partSize: 10 }, done)).toEqual([1, 3]);
    expect(missingParts({ size: 0, partSize: 10 }, [])).toEqual([1]);
  });
});
