import { describe, expect, it } from "vitest";
import { contentRange, resolveRange } from "../src/http/byte-range.ts";

describe("resolveRange()", () => {
  it.each([
    ["bytes=0-3", { offset: 0, length: 4 }],
    ["bytes=4-", { offset: 4, length: 6 }],
    ["bytes=-3", { offset: 7, length: 3 }],
    ["bytes=9-9", { offset: 9, length: 1 }],
    ["BYTES=0-0", { offset: 0, length: 1 }],
    ["bytes=5-100", { offset: 5, length: 5 }],
    ["bytes=-100", { offset: 0, length: 10 }],
    ["bytes=0-99999999999999999999", { offset: 0, length: 10 }],
  ])("resolves %s of ten bytes", (header, range) => {
    expect(resolveRange(header, 10)).toEqual(range);
  });

  it.each(["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])(
    "cannot satisfy %s of ten bytes",
    (header) => {
      expect(resolveRange(header, 10)).toBe("unsatisfiable");
    },
  );

  it.each(["bytes=-", "bytes=", "bytes", "items=0-1", "bytes=3-2", "bytes=a-b", "bytes=0-1,3-4"])(
    "resolves %s to the whole content",
    (header) => {
      expect(resolveRange(header, 10)).toBe("whole");
    },
  );

  it("resolves only a suffix of an empty content", () => {
    expect(resolveRange("bytes=0-", 0)).toBe("unsatisfiable");
    expect(resolveRange("bytes=-5", 0)).toBe("whole");
  });
});

describe("contentRange()", () => {
  it("contains the last byte and the size", () => {
    expect(contentRange({ offset: 4, length: 6 }, 10)).toBe("bytes 4-9/10");
    expect(contentRange("unsatisfiable", 10)).toBe("bytes */10");
  });
});
