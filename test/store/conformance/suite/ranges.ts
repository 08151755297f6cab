/** Ranges of get(), as an object and as a `Range` header. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreRange } from "../../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { type Failure, rangeError, storeError, typeError } from "./failures.ts";
import { bucket, freshKey, headOf, loose, present } from "./subject.ts";
import { inlineBytesMax } from "./values.ts";

type Span = readonly [offset: number, length: number];

const { POSITIVE_INFINITY: infinity, NEGATIVE_INFINITY: negativeInfinity, NaN: nan } = Number;
const size = 1000;
const whole: Span = [0, size];

/** For an object of 1000 bytes. */
const served: [range: object, span: Span][] = [
  [{}, whole],
  [{ offset: 0 }, whole],
  [{ offset: 10 }, [10, 990]],
  [{ offset: 999 }, [999, 1]],
  [{ length: 1 }, [0, 1]],
  [{ length: 1000 }, whole],
  [{ offset: 10, length: 20 }, [10, 20]],
  [{ offset: 0, length: 1 }, [0, 1]],
  [{ suffix: 1 }, [999, 1]],
  [{ suffix: 1000 }, whole],
  // Longer than the object: clamped
  [{ length: 1001 }, whole],
  [{ offset: 990, length: 100 }, [990, 10]],
  [{ suffix: 5000 }, whole],
  [{ length: 2 ** 53 }, whole],
  [{ length: infinity }, whole],
  [{ offset: 5, length: infinity }, [5, 995]],
  [{ suffix: infinity }, whole],
  // Coerced
  [{ offset: "10" }, [10, 990]],
  [{ length: "10" }, [0, 10]],
  [{ suffix: "10" }, [990, 10]],
  [{ offset: null }, whole],
  [{ offset: true }, [1, 999]],
  // Absent
  [{ offset: undefined, length: 10 }, [0, 10]],
  [{ offset: 10, length: undefined }, [10, 990]],
  [{ suffix: undefined, offset: 10 }, [10, 990]],
  [{ suffix: 10, offset: undefined, length: undefined }, [990, 10]],
];

const unsatisfiable: object[] = [
  { offset: 1000 },
  { offset: 1001 },
  { offset: 1000, length: 1 },
  { offset: 2 ** 53 },
  { offset: 1e300 },
  { offset: infinity },
  { length: 0 },
  { offset: 0, length: 0 },
  { offset: 10, length: 0 },
  { suffix: 0 },
];

const atLeast = (subject: string, value: string) =>
  rangeError(`Invalid ${subject} (${value}) must be greater than or equal to 0.`);
const integer = (subject: string) =>
  rangeError(`Invalid range. ${subject} (1.5) must be an integer, not floating point.`);

const refused: [range: object, failure: Failure][] = [
  [{ offset: -1 }, atLeast("range. Starting offset", "-1")],
  [{ offset: nan }, atLeast("range. Starting offset", "nan")],
  [{ offset: "far" }, atLeast("range. Starting offset", "nan")],
  [{ offset: {} }, atLeast("range. Starting offset", "nan")],
  [{ offset: negativeInfinity }, atLeast("range. Starting offset", "-inf")],
  [{ offset: 1.5 }, integer("Starting offset")],
  [{ length: -1 }, atLeast("range. Length", "-1")],
  [{ length: nan }, atLeast("range. Length", "nan")],
  [{ length: "long" }, atLeast("range. Length", "nan")],
  [{ length: negativeInfinity }, atLeast("range. Length", "-inf")],
  [{ length: 1.5 }, integer("Length")],
  [{ offset: 0, length: -1 }, atLeast("range. Length", "-1")],
  [{ suffix: -1 }, atLeast("suffix. Suffix", "-1")],
  [{ suffix: nan }, atLeast("suffix. Suffix", "nan")],
  [{ suffix: 1.5 }, integer("Suffix")],
  [{ suffix: 2, offset: 0 }, typeError("Suffix is incompatible with offset.")],
  [{ suffix: 2, length: 1 }, typeError("Suffix is incompatible with length.")],
  [{ offset: 1n }, typeError("Cannot convert a BigInt value to a number")],
];

/** For an object of 1000 bytes. */
const headers: [header: string, span: Span][] = [
  ["bytes=0-1", [0, 2]],
  ["bytes=10-19", [10, 10]],
  ["bytes=10-", [10, 990]],
  ["bytes=-10", [990, 10]],
  ["bytes=990-5000", [990, 10]],
  ["bytes=-5000", whole],
  ["bytes=999-", [999, 1]],
  ["BYTES=0-1", [0, 2]],
  ["bytes = 0 - 1", [0, 2]],
  // Not satisfiable
  ...["bytes=1000-", "bytes=1000-1001", "bytes=-0"].map((text): [string, Span] => [text, whole]),
  // More than one
  ...["bytes=0-0,2-3", "bytes=0-0, -1"].map((text): [string, Span] => [text, whole]),
  // Malformed
  ...["bytes=3-1", "bytes=", "bytes=-", "bytes=a-b", "bytes=-1-2", "bytes=1.5-2"]
    .concat("items=0-1", "0-1", "garbage")
    .map((text): [string, Span] => [text, whole]),
];

const large = inlineBytesMax * 2;
const ofFile: [range: StoreRange, span: Span][] = [
  [{ offset: 0, length: 1 }, [0, 1]],
  [{ offset: 65_000, length: 100_000 }, [65_000, 100_000]],
  [{ offset: large - 1 }, [large - 1, 1]],
  [{ suffix: 3 }, [large - 3, 3]],
  [{ suffix: large * 2 }, [0, large]],
  [{ offset: 7, length: large }, [7, large - 7]],
];

function show(range: object): string {
  return Object.entries(range)
    .map(([name, value]) => `${name} ${typeof value === "string" ? `"${value}"` : String(value)}`)
    .join(", ");
}

const get = (name: string, range: unknown) => loose.get(name, { range });

export function rangeSuite(): void {
  describe("ranges", () => {
    const [key, empty, file] = [freshKey(), freshKey(), freshKey()];
    const contents = { [key]: bytesOf(size), [empty]: new Uint8Array(), [file]: bytesOf(large) };
    beforeAll(async () => {
      for (const [name, bytes] of Object.entries(contents)) await bucket.put(name, bytes);
    });

    /** The range of the object, and whether its size and its body are right. */
    async function read(name: string, given: unknown): Promise<[...Span, isRight: boolean]> {
      const object = await present(get(name, given));
      const { offset = 0, length = 0 } = object.range ?? {};
      const bytes = contents[name] as Uint8Array;
      const expected = bytes.slice(offset, offset + length);
      const isRight = object.size === bytes.length && sameBytes(await object.bytes(), expected);
      return [offset, length, isRight];
    }
    const unsatisfied = storeError("get", 10039);

    for (const [range, span] of served) {
      it(`get() serves the range {${show(range)}}`, async () => {
        expect(await read(key, range)).toEqual([...span, true]);
      });
    }
    for (const [range, span] of ofFile) {
      it(`get() serves {${show(range)}} of a value in a file`, async () => {
        expect(await read(file, range)).toEqual([...span, true]);
      });
    }
    it.each(headers)("get() serves the header Range: %s", async (text, span) => {
      expect(await read(key, new Headers({ range: text }))).toEqual([...span, true]);
    });

    for (const range of unsatisfiable) {
      it(`get() cannot satisfy the range {${show(range)}}`, async () => {
        await expect(() => get(key, range)).toFailWith(unsatisfied);
      });
    }
    it("get() cannot satisfy a range of an empty object, or after the end of a file", async () => {
      for (const range of [{ offset: 0 }, { length: 1 }, { offset: 0, length: 5 }, { suffix: 1 }]) {
        await expect(() => get(empty, range)).toFailWith(unsatisfied);
      }
      await expect(() => get(file, { offset: large })).toFailWith(unsatisfied);
    });

    for (const [range, failure] of refused) {
      it(`get() refuses the range {${show(range)}}`, async () => {
        for (const name of [key, freshKey()]) {
          await expect(() => get(name, range)).toFailWith(failure);
        }
      });
    }

    it("get() of an absent object returns null with any range", async () => {
      for (const range of [{ offset: 10 }, { length: 0 }, { suffix: 0 }]) {
        expect(await bucket.get(freshKey(), { range })).toBeNull();
      }
    });

    it("get() serves the whole object for headers without Range", async () => {
      expect(await read(key, new Headers({ accept: "*/*" }))).toEqual([...whole, true]);
    });

    it("get() serves an empty object for any Range header", async () => {
      for (const range of ["bytes=0-", "bytes=-1", "bytes=0-0"]) {
        expect(await read(empty, new Headers({ range }))).toEqual([0, 0, true]);
      }
    });

    it("get() returns the etag and checksums of the whole object with a range", async () => {
      const object = await present(bucket.get(key, { range: { length: 1 } }));
      const head = await headOf(key);
      expect(object.etag).toBe(head.etag);
      expect(object.checksums.toJSON()).toEqual(head.checksums.toJSON());
      await object.arrayBuffer();
    });
  });
}
