/** Ranges of get(), as an object and as a `Range` header. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreObjectBody, StoreRange } from "../../../../src/types/store.ts";
import { bytesOf, firstDifference, inlineBytesMax } from "./content.ts";
import type { Failure } from "./failure.ts";
import { failureOf, rangeError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

type Resolved = { offset: number; length: number };

const {
  POSITIVE_INFINITY: positiveInfinity,
  NEGATIVE_INFINITY: negativeInfinity,
  NaN: notANumber,
} = Number;
const size = 1000;
const largeBytes = inlineBytesMax * 2;

/** For an object of 1000 bytes. */
const served: [range: unknown, resolved: Resolved][] = [
  [{}, { offset: 0, length: 1000 }],
  [{ offset: 0 }, { offset: 0, length: 1000 }],
  [{ offset: 10 }, { offset: 10, length: 990 }],
  [{ offset: 999 }, { offset: 999, length: 1 }],
  [{ length: 1 }, { offset: 0, length: 1 }],
  [{ length: 1000 }, { offset: 0, length: 1000 }],
  [
    { offset: 10, length: 20 },
    { offset: 10, length: 20 },
  ],
  [
    { offset: 0, length: 1 },
    { offset: 0, length: 1 },
  ],
  [{ suffix: 1 }, { offset: 999, length: 1 }],
  [{ suffix: 1000 }, { offset: 0, length: 1000 }],
  // Longer than the object: clamped
  [{ length: 1001 }, { offset: 0, length: 1000 }],
  [
    { offset: 990, length: 100 },
    { offset: 990, length: 10 },
  ],
  [{ suffix: 5000 }, { offset: 0, length: 1000 }],
  [{ length: 2 ** 53 }, { offset: 0, length: 1000 }],
  [{ length: positiveInfinity }, { offset: 0, length: 1000 }],
  [
    { offset: 5, length: positiveInfinity },
    { offset: 5, length: 995 },
  ],
  [{ suffix: positiveInfinity }, { offset: 0, length: 1000 }],
  // Coerced
  [{ offset: "10" }, { offset: 10, length: 990 }],
  [{ length: "10" }, { offset: 0, length: 10 }],
  [{ suffix: "10" }, { offset: 990, length: 10 }],
  [{ offset: null }, { offset: 0, length: 1000 }],
  [{ offset: true }, { offset: 1, length: 999 }],
  // Absent
  [
    { offset: undefined, length: 10 },
    { offset: 0, length: 10 },
  ],
  [
    { offset: 10, length: undefined },
    { offset: 10, length: 990 },
  ],
  [
    { suffix: undefined, offset: 10 },
    { offset: 10, length: 990 },
  ],
  [
    { suffix: 10, offset: undefined, length: undefined },
    { offset: 990, length: 10 },
  ],
];

const unsatisfiable: object[] = [
  { offset: 1000 },
  { offset: 1001 },
  { offset: 1000, length: 1 },
  { offset: 2 ** 53 },
  { offset: 1e300 },
  { offset: positiveInfinity },
  { length: 0 },
  { offset: 0, length: 0 },
  { offset: 10, length: 0 },
  { suffix: 0 },
];

const atLeast = (subject: string, value: string) =>
  rangeError(`Invalid ${subject} (${value}) must be greater than or equal to 0.`);
const whole = (subject: string, value: string) =>
  rangeError(`Invalid range. ${subject} (${value}) must be an integer, not floating point.`);

const refused: [range: object, failure: Failure][] = [
  [{ offset: -1 }, atLeast("range. Starting offset", "-1")],
  [{ offset: notANumber }, atLeast("range. Starting offset", "nan")],
  [{ offset: "far" }, atLeast("range. Starting offset", "nan")],
  [{ offset: {} }, atLeast("range. Starting offset", "nan")],
  [{ offset: negativeInfinity }, atLeast("range. Starting offset", "-inf")],
  [{ offset: 1.5 }, whole("Starting offset", "1.5")],
  [{ length: -1 }, atLeast("range. Length", "-1")],
  [{ length: notANumber }, atLeast("range. Length", "nan")],
  [{ length: "long" }, atLeast("range. Length", "nan")],
  [{ length: negativeInfinity }, atLeast("range. Length", "-inf")],
  [{ length: 1.5 }, whole("Length", "1.5")],
  [{ offset: 0, length: -1 }, atLeast("range. Length", "-1")],
  [{ suffix: -1 }, atLeast("suffix. Suffix", "-1")],
  [{ suffix: notANumber }, atLeast("suffix. Suffix", "nan")],
  [{ suffix: 1.5 }, whole("Suffix", "1.5")],
  [{ suffix: 2, offset: 0 }, typeError("Suffix is incompatible with offset.")],
  [{ suffix: 2, length: 1 }, typeError("Suffix is incompatible with length.")],
  [{ offset: 1n }, typeError("Cannot convert a BigInt value to a number")],
];

/** For an object of 1000 bytes. */
const headerRows: [header: string, resolved: Resolved][] = [
  ["bytes=0-1", { offset: 0, length: 2 }],
  ["bytes=10-19", { offset: 10, length: 10 }],
  ["bytes=10-", { offset: 10, length: 990 }],
  ["bytes=-10", { offset: 990, length: 10 }],
  ["bytes=990-5000", { offset: 990, length: 10 }],
  ["bytes=-5000", { offset: 0, length: 1000 }],
  ["bytes=999-", { offset: 999, length: 1 }],
  ["BYTES=0-1", { offset: 0, length: 2 }],
  ["bytes = 0 - 1", { offset: 0, length: 2 }],
  // Not satisfiable
  ["bytes=1000-", { offset: 0, length: 1000 }],
  ["bytes=1000-1001", { offset: 0, length: 1000 }],
  ["bytes=-0", { offset: 0, length: 1000 }],
  // More than one
  ["bytes=0-0,2-3", { offset: 0, length: 1000 }],
  ["bytes=0-0, -1", { offset: 0, length: 1000 }],
  // Malformed
  ["bytes=3-1", { offset: 0, length: 1000 }],
  ["bytes=", { offset: 0, length: 1000 }],
  ["bytes=-", { offset: 0, length: 1000 }],
  ["bytes=a-b", { offset: 0, length: 1000 }],
  ["bytes=-1-2", { offset: 0, length: 1000 }],
  ["bytes=1.5-2", { offset: 0, length: 1000 }],
  ["items=0-1", { offset: 0, length: 1000 }],
  ["0-1", { offset: 0, length: 1000 }],
  ["garbage", { offset: 0, length: 1000 }],
];

function show(range: unknown): string {
  return Object.entries(range as object)
    .map(([name, value]) => `${name} ${typeof value === "string" ? `"${value}"` : String(value)}`)
    .join(", ");
}

export function rangeSuite(subject: Subject): void {
  describe("ranges", () => {
    let bucket: StoreBucket;
    const key = freshKey("range");
    const empty = freshKey("range");
    const large = freshKey("range");
    const bytes = bytesOf(size);
    const manyBytes = bytesOf(largeBytes);
    beforeAll(async () => {
      bucket = await subject.bucket();
      await bucket.put(key, bytes);
      await bucket.put(empty, null);
      await bucket.put(large, manyBytes);
    });

    /** The range of the object, and whether its body holds exactly those bytes. */
    async function servedBy(object: StoreObjectBody | null) {
      if (object === null) return null;
      const { range, size: objectSize } = object;
      const { offset, length } = range ?? { offset: 0, length: 0 };
      const expected = bytes.slice(offset, offset + length);
      const wrongAt = firstDifference(await object.arrayBuffer(), expected);
      return { range, objectSize, wrongAt };
    }

    const asServed = (range: Resolved) => ({ range, objectSize: size, wrongAt: -1 });

    for (const [range, resolved] of served) {
      it(`get() serves the range {${show(range)}}`, async () => {
        const object = (await looseBucket(bucket).get(key, { range })) as StoreObjectBody | null;
        expect(await servedBy(object)).toEqual(asServed(resolved));
      });
    }

    for (const range of unsatisfiable) {
      it(`get() cannot satisfy the range {${show(range)}}`, async () => {
        expect(await failureOf(() => looseBucket(bucket).get(key, { range }))).toEqual(
          storeError("get", 10039),
        );
      });
    }

    for (const range of [{ offset: 0 }, { length: 1 }, { offset: 0, length: 5 }, { suffix: 1 }]) {
      it(`get() cannot satisfy {${show(range)}} of an empty object`, async () => {
        expect(await failureOf(() => bucket.get(empty, { range }))).toEqual(
          storeError("get", 10039),
        );
      });
    }

    for (const [range, failure] of refused) {
      it(`get() refuses the range {${show(range)}}`, async () => {
        expect(await failureOf(() => looseBucket(bucket).get(key, { range }))).toEqual(failure);
        const absent = freshKey("range");
        expect(await failureOf(() => looseBucket(bucket).get(absent, { range }))).toEqual(failure);
      });
    }

    it("get() of an absent object returns null with any range", async () => {
      for (const range of [{ offset: 10 }, { length: 0 }, { suffix: 0 }]) {
        expect(await bucket.get(freshKey("range"), { range })).toBeNull();
      }
    });

    for (const [header, resolved] of headerRows) {
      it(`get() serves the header Range: ${header}`, async () => {
        const range = new Headers({ range: header });
        expect(await servedBy(await bucket.get(key, { range }))).toEqual(asServed(resolved));
      });
    }

    it("get() serves the whole object for headers without Range", async () => {
      const range = new Headers({ accept: "*/*" });
      expect(await servedBy(await bucket.get(key, { range }))).toEqual(
        asServed({ offset: 0, length: size }),
      );
    });

    it("get() serves an empty object for any Range header", async () => {
      for (const header of ["bytes=0-", "bytes=-1", "bytes=0-0"]) {
        const object = await present(bucket.get(empty, { range: new Headers({ range: header }) }));
        expect(object.range).toEqual({ offset: 0, length: 0 });
        expect(await object.text()).toBe("");
      }
    });

    const largeRanges: [range: StoreRange, resolved: Resolved][] = [
      [
        { offset: 0, length: 1 },
        { offset: 0, length: 1 },
      ],
      [
        { offset: 65_000, length: 100_000 },
        { offset: 65_000, length: 100_000 },
      ],
      [{ offset: largeBytes - 1 }, { offset: largeBytes - 1, length: 1 }],
      [{ suffix: 3 }, { offset: largeBytes - 3, length: 3 }],
      [{ suffix: largeBytes * 2 }, { offset: 0, length: largeBytes }],
      [
        { offset: 7, length: largeBytes },
        { offset: 7, length: largeBytes - 7 },
      ],
    ];
    for (const [range, { offset, length }] of largeRanges) {
      it(`get() serves {${show(range)}} of a value in a file`, async () => {
        const object = await present(bucket.get(large, { range }));
        expect(object.range).toEqual({ offset, length });
        expect(object.size).toBe(largeBytes);
        const content = await object.arrayBuffer();
        expect(firstDifference(content, manyBytes.slice(offset, offset + length))).toBe(-1);
      });
    }

    it("get() cannot satisfy a range after the end of a value in a file", async () => {
      expect(await failureOf(() => bucket.get(large, { range: { offset: largeBytes } }))).toEqual(
        storeError("get", 10039),
      );
    });

    it("get() returns the etag and checksums of the whole object with a range", async () => {
      const object = await present(bucket.get(key, { range: { length: 1 } }));
      const head = await present(bucket.head(key));
      expect(object.etag).toBe(head.etag);
      expect(object.checksums.toJSON()).toEqual(head.checksums.toJSON());
      await object.arrayBuffer();
    });
  });
}
