import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveRange, validateRange, type RangeRequest } from "./byte-range.ts";
import { StoreError } from "./errors.ts";

describe("validateRange()", () => {
  it.each([
    [{}, {}],
    [{ offset: 0 }, { offset: 0 }],
    [{ length: 0 }, { length: 0 }],
    [
      { offset: 1, length: 2 },
      { offset: 1, length: 2 },
    ],
    [{ suffix: 0 }, { suffix: 0 }],
    [{ suffix: 3, offset: undefined, length: undefined }, { suffix: 3 }],
    [
      { offset: Infinity, length: Infinity },
      { offset: Number.MAX_SAFE_INTEGER, length: Number.MAX_SAFE_INTEGER },
    ],
    [{ suffix: Infinity }, { suffix: Number.MAX_SAFE_INTEGER }],
  ])("takes %o", (range, request) => {
    expect(validateRange(range)).toEqual(request);
  });

  it.each([
    [{ offset: -1 }, "Invalid range. Starting offset (-1) must be greater than or equal to 0."],
    [{ offset: NaN }, "Invalid range. Starting offset (nan) must be greater than or equal to 0."],
    [
      { offset: 0.5 },
      "Invalid range. Starting offset (0.5) must be an integer, not floating point.",
    ],
    [{ length: -1 }, "Invalid range. Length (-1) must be greater than or equal to 0."],
    [{ length: -Infinity }, "Invalid range. Length (-inf) must be greater than or equal to 0."],
    [{ length: 1.5 }, "Invalid range. Length (1.5) must be an integer, not floating point."],
    [{ suffix: -1 }, "Invalid suffix. Suffix (-1) must be greater than or equal to 0."],
    [{ suffix: 2.5 }, "Invalid range. Suffix (2.5) must be an integer, not floating point."],
  ])("refuses %o with a RangeError", (range, message) => {
    expect(() => validateRange(range)).toThrow(new RangeError(message));
  });

  it.each([
    [{ suffix: 1, offset: 0 }, "Suffix is incompatible with offset."],
    [{ suffix: 1, length: 0 }, "Suffix is incompatible with length."],
    [{ suffix: 0, offset: 0, length: 0 }, "Suffix is incompatible with offset."],
    [{ suffix: -1, length: 1 }, "Suffix is incompatible with length."],
  ])("refuses %o with a TypeError", (range, message) => {
    expect(() => validateRange(range)).toThrow(new TypeError(message));
  });
});

const whole = { offset: 0, length: 10 };

describe("resolveRange() of an object of 10 bytes", () => {
  it.each<[string, RangeRequest | undefined, { offset: number; length: number }]>([
    ["takes the whole without a request", undefined, whole],
    ["takes the whole for {}", {}, whole],
    ["clamps an endless length", { length: Infinity }, whole],
    ["clamps an endless suffix", { suffix: Infinity }, whole],
  ])("%s", (_, request, range) => {
    expect(resolveRange(request, 10)).toStrictEqual(range);
  });

  it("cannot satisfy an endless offset", () => {
    expect(() => resolveRange({ offset: Infinity }, 10)).toThrow(
      new StoreError(10039, undefined, { objectSize: 10 }),
    );
  });

  it.each([
    ["bytes=0-0", { offset: 0, length: 1 }],
    ["bytes=2-4", { offset: 2, length: 3 }],
    ["bytes=9-9", { offset: 9, length: 1 }],
    ["bytes=9-", { offset: 9, length: 1 }],
    ["bytes=0-9", whole],
    ["bytes=8-10", { offset: 8, length: 2 }],
    ["bytes=8-99999999999999999999", { offset: 8, length: 2 }],
    ["bytes=-1", { offset: 9, length: 1 }],
    ["bytes=-10", whole],
    ["bytes=-11", whole],
    ["BYTES=2-4", { offset: 2, length: 3 }],
    [" bytes = 2 - 4 ", { offset: 2, length: 3 }],
  ])("takes the header %j", (header, range) => {
    expect(resolveRange({ header }, 10)).toStrictEqual(range);
  });

  it.each([
    [
      "malformed",
      ["", "bytes", "bytes=", "bytes=-", "bytes=a-b", "2-4", "bytes=2-4x", "bytes=+2-4"],
    ],
    ["of another unit", ["lines=2-4", "xbytes=2-4"]],
    ["of several ranges", ["bytes=2-4,6-7", "bytes=2-4,", "bytes=-1,-2"]],
    ["that cannot be satisfied", ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=4-2"]],
  ])("takes the whole for a header %s", (_, headers) => {
    for (const header of headers) expect(resolveRange({ header }, 10)).toStrictEqual(whole);
  });
});

describe("resolveRange() of an empty object", () => {
  it.each<RangeRequest | undefined>([
    undefined,
    {},
    { header: "bytes=0-" },
    { header: "bytes=0-0" },
    { header: "bytes=-1" },
  ])("takes nothing for %o", (request) => {
    expect(resolveRange(request, 0)).toStrictEqual({ offset: 0, length: 0 });
  });
});

describe("resolveRange() of any object", () => {
  const size = fc.nat({ max: 12 });
  const number = fc.nat({ max: 14 });
  it("selects the bytes that a slice selects, or fails when they are none", () => {
    const request = fc.oneof(
      fc.record({ offset: number }),
      fc.record({ offset: number, length: number }),
      fc.record({ length: number }),
      fc.record({ suffix: number }),
    );
    fc.assert(
      fc.property(size, request, (length, asked: RangeRequest) => {
        // The value of each byte is its position.
        const bytes = Array.from({ length }, (_, index) => index);
        const take = (): number[] => {
          const range = resolveRange(asked, length);
          expect(range.offset + range.length).toBeLessThanOrEqual(length);
          return bytes.slice(range.offset, range.offset + range.length);
        };
        const wanted = wantedBytes(bytes, asked);
        const refusal = new StoreError(10039, undefined, { objectSize: length });
        expect(valueOrError(take)).toStrictEqual(wanted.length === 0 ? refusal : wanted);
      }),
    );
  });

  it("stays inside the object for every header", () => {
    const header = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.oneof(number, fc.bigInt()), fc.oneof(number, fc.bigInt(), fc.constant("")))
        .map(([first, last]) => `bytes=${first}-${last}`),
      number.map((suffix) => `bytes=-${suffix}`),
    );
    fc.assert(
      fc.property(size, header, (length, text) => {
        const range = resolveRange({ header: text }, length);
        expect(range.offset).toBeGreaterThanOrEqual(0);
        expect(range.length).toBeGreaterThanOrEqual(Math.min(length, 1));
        expect(range.offset + range.length).toBeLessThanOrEqual(length);
      }),
    );
  });
});

function wantedBytes(bytes: number[], asked: RangeRequest): number[] {
  if ("header" in asked) return bytes;
  if (asked.suffix !== undefined) return asked.suffix === 0 ? [] : bytes.slice(-asked.suffix);
  const { offset = 0, length = bytes.length } = asked;
  return bytes.slice(offset, offset + length);
}

function valueOrError(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
