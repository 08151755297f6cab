import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  decodeSegments,
  encodeSegments,
  segmentRange,
  sliceSegments,
  type Segment,
} from "./content-segment.ts";

const place = fc.oneof(fc.nat(), fc.string());
const segments = fc.array(
  fc.tuple(fc.nat({ max: 5 }), place).map(([size, where]) => ({ size, place: where })),
  { maxLength: 6 },
);

const [a, b, c] = [
  { size: 3, place: 1 },
  { size: 4, place: "b" },
  { size: 2, place: 3 },
] as const;

it.each<[string, [number, number], [Segment, number, number][]]>([
  [
    "all of them",
    [0, 9],
    [
      [a, 0, 3],
      [b, 0, 4],
      [c, 0, 2],
    ],
  ],
  ["the first only", [0, 3], [[a, 0, 3]]],
  ["the middle only", [3, 4], [[b, 0, 4]]],
  ["the last only", [7, 2], [[c, 0, 2]]],
  ["the inside of one segment", [4, 2], [[b, 1, 2]]],
  [
    "the end of a segment and the start of the next",
    [2, 2],
    [
      [a, 2, 1],
      [b, 0, 1],
    ],
  ],
  [
    "the end of the first to the start of the last",
    [2, 6],
    [
      [a, 2, 1],
      [b, 0, 4],
      [c, 0, 1],
    ],
  ],
  ["no bytes", [3, 0], []],
])("sliceSegments() takes %s", (_, [offset, length], slices) => {
  expect(sliceSegments([a, b, c], { offset, length })).toStrictEqual(
    slices.map(([segment, start, count]) => ({ segment, offset: start, length: count })),
  );
});

it("sliceSegments() of an empty object is empty", () => {
  expect(sliceSegments([{ size: 0, place: 1 }], { offset: 0, length: 0 })).toStrictEqual([]);
  expect(sliceSegments([], { offset: 0, length: 0 })).toStrictEqual([]);
});

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

it("encodeSegments() writes a pair of size and place for each segment", () => {
  expect(encodeSegments([a, b])).toBe('[[3,1],[4,"b"]]');
  expect(encodeSegments([])).toBe("[]");
});

it("decodeSegments() reads back what encodeSegments() writes", () => {
  fc.assert(
    fc.property(segments, (parts) => {
      expect(decodeSegments(encodeSegments(parts))).toStrictEqual(parts);
    }),
  );
});
