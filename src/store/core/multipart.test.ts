import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreError } from "./errors.ts";
import { objectBytesMax, partBytesMin, uploadBytesMax } from "./limits.ts";
import {
  earlierExpiry,
  multipartEtag,
  selectParts,
  uploadDeadline,
  uploadStateAt,
  validatePartNumber,
  validateUploadSize,
  type StoredPart,
} from "./multipart.ts";

it("uploadDeadline() is seven days later", () => {
  expect(uploadDeadline(5)).toBe(5 + 7 * 24 * 3600 * 1000);
});

describe("uploadStateAt()", () => {
  const since = 5;
  const deadline = uploadDeadline(since);

  it.each(["in progress", "completed", "aborted"] as const)(
    "keeps %s until the deadline",
    (state) => {
      expect(uploadStateAt({ state, since }, deadline - 1)).toBe(state);
    },
  );

  it("aborts an upload in progress at the deadline, and forgets the upload a lifetime later", () => {
    const upload = { state: "in progress", since } as const;
    expect(uploadStateAt(upload, deadline)).toBe("aborted");
    expect(uploadStateAt(upload, uploadDeadline(deadline) - 1)).toBe("aborted");
    expect(uploadStateAt(upload, uploadDeadline(deadline))).toBeNull();
  });

  it.each(["completed", "aborted"] as const)("forgets a %s upload at the deadline", (state) => {
    expect(uploadStateAt({ state, since }, deadline)).toBeNull();
  });
});

describe("earlierExpiry()", () => {
  const day = 24 * 3600 * 1000;
  const rules = [
    { prefix: "tmp/", days: 2 },
    { prefix: "tmp/x", days: 1 },
    { prefix: "", days: 5 },
  ];

  it.each([
    ["other", 2 * day],
    ["tmp/a", 5 * day],
    ["tmp/x/y", 6 * day],
  ])("follows the shortest rule for %s", (key, earlier) => {
    expect(earlierExpiry(key, rules)).toBe(earlier);
  });

  it("is nothing without a rule, and for a rule of more than seven days", () => {
    expect(earlierExpiry("key", [])).toBe(0);
    expect(earlierExpiry("key", [{ prefix: "other", days: 1 }])).toBe(0);
    expect(earlierExpiry("key", [{ prefix: "", days: 8 }])).toBe(0);
  });
});

it.each([1, 2, 9999, 10_000])("validatePartNumber() takes %d", (partNumber) => {
  expect(() => validatePartNumber(partNumber)).not.toThrow();
});

it.each([-1, 0, 10_001, NaN, Infinity])("validatePartNumber() refuses %d", (partNumber) => {
  expect(() => validatePartNumber(partNumber)).toThrow(
    new TypeError(
      `Part number must be between 1 and 10000 (inclusive). Actual value was: ${partNumber}`,
    ),
  );
});

it("validateUploadSize() takes 5 GiB less 5 MiB and no more", () => {
  expect(() => validateUploadSize(0)).not.toThrow();
  expect(() => validateUploadSize(uploadBytesMax)).not.toThrow();
  expect(() => validateUploadSize(uploadBytesMax + 1)).toThrow(new StoreError(100100));
});

/** Parts by number and size. Their tags are `a1`, `a2` and so on. */
function storedParts(sizes: Record<number, number>): Map<number, StoredPart> {
  return new Map(
    Object.entries(sizes).map(([number, size]) => [
      Number(number),
      { partNumber: Number(number), etag: `a${number}`, size },
    ]),
  );
}

function named(...partNumbers: number[]): { partNumber: number; etag: string }[] {
  return partNumbers.map((partNumber) => ({ partNumber, etag: `a${partNumber}` }));
}

const min = partBytesMin;

describe("selectParts()", () => {
  it("compares the checksums that the caller names", () => {
    const stored = new Map([
      [1, { partNumber: 1, etag: "a1", size: 1, checksums: { md5: "a1", crc32: "c" } }],
    ]);
    const select = (checksums: object) => selectParts([{ ...named(1)[0]!, checksums }], stored);
    expect(select({})).toHaveLength(1);
    expect(select({ crc32: "c" })).toHaveLength(1);
    expect(() => select({ crc32: "d" })).toThrow(new StoreError(10025));
    expect(() => select({ sha1: "s" })).toThrow(new StoreError(10025));
  });

  it.each([
    ["one small part", { 1: 1 }, [1]],
    ["one empty part", { 1: 0 }, [1]],
    ["parts of the smallest size and a small last part", { 1: min, 2: min, 3: 1 }, [1, 2, 3]],
    ["an empty last part", { 1: min, 2: 0 }, [1, 2]],
    ["parts of one size", { 1: min + 1, 2: min + 1 }, [1, 2]],
    ["part numbers with gaps between them", { 2: min, 7: min, 10000: 5 }, [2, 7, 10000]],
    ["some of the uploaded parts", { 1: min, 2: 1, 3: min }, [1, 3]],
    ["an object of the largest size", { 1: objectBytesMax - min, 2: min }, [1, 2]],
    ["one part of the largest size", { 1: objectBytesMax }, [1]],
  ])("takes %s", (_, sizes, numbers) => {
    const parts = selectParts(named(...numbers), storedParts(sizes));
    expect(parts.map((part) => part.partNumber)).toStrictEqual(numbers);
  });

  it.each([
    ["no parts", 10048, { 1: min }, []],
    ["a part named twice", 10048, { 1: min, 2: min }, [1, 2, 1]],
    ["a part that does not exist, named twice", 10048, {}, [1, 1]],
    ["a part that does not exist", 10025, { 1: min }, [1, 2]],
    ["a part that does not exist, beside small parts", 10025, { 1: 1, 2: 1 }, [1, 2, 3]],
    ["a first part one byte too small", 10011, { 1: min - 1, 2: 1 }, [1, 2]],
    ["a middle part too small", 10011, { 1: min, 2: min - 1, 3: min }, [1, 2, 3]],
    ["a part too small that is last in the order given", 10011, { 1: 1, 2: min }, [2, 1]],
    ["small parts before a larger last part", 10011, { 1: min - 1, 2: min }, [1, 2]],
    ["an object one byte too large", 100100, { 1: objectBytesMax - min, 2: min + 1 }, [1, 2]],
    ["a part one byte too large for an object", 100100, { 1: objectBytesMax + 1 }, [1]],
  ] as const)("refuses %s with %i", (_, code, sizes, numbers) => {
    expect(() => selectParts(named(...numbers), storedParts(sizes))).toThrow(new StoreError(code));
  });

  it.each([
    ["unequal parts", { 1: min, 2: min + 1, 3: 1 }, [1, 2, 3], [2, min, min + 1]],
    ["a larger first part", { 1: min + 1, 3: min, 5: min, 7: 1 }, [1, 3, 5, 7], [3, min + 1, min]],
    ["a larger last part", { 1: min, 2: min, 8: min + 1 }, [8, 1, 2], [8, min, min + 1]],
  ] as const)("refuses %s with 10048, and names the part", (_, sizes, numbers, found) => {
    const [partNumber, expected, size] = found;
    const reason =
      "All non-trailing parts must have the same length. Non Uniform Part Sizes: " +
      `Expected part ${partNumber} to have size ${expected}, found ${size}`;
    expect(() => selectParts(named(...numbers), storedParts(sizes))).toThrow(
      new StoreError(10048, undefined, { reason }),
    );
  });

  it("refuses the previous entity tag of a part that was uploaded again, with 10025", () => {
    const again = new Map([[1, { partNumber: 1, etag: "b1", size: 1 }]]);
    expect(() => selectParts(named(1), again)).toThrow(new StoreError(10025));
  });

  it("returns the stored parts in the order of their numbers", () => {
    const stored = storedParts({ 1: min, 2: min, 9: min, 10: min, 100: 1 });
    const expected = [...stored.values()].toSorted((a, b) => a.partNumber - b.partNumber);
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 9, 10, 100], { minLength: 5 }), (numbers) => {
        const references = Object.freeze(named(...numbers));
        expect(selectParts(references, stored)).toStrictEqual(expected);
      }),
    );
  });
});

it("multipartEtag() is the MD5 of the parts' MD5s in order, and the number of parts", () => {
  const parts = [...storedParts({ 1: 5, 2: 5, 3: 1 }).values()];
  expect(multipartEtag(parts)).toBe("df0c9983395c79481d225ffe002d5240-3");
});
