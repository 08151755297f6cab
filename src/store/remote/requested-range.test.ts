import { describe, expect, it } from "vitest";
import { parseContentRange, rangeHeader } from "./requested-range.ts";

describe("rangeHeader()", () => {
  it.each([
    [undefined, ""],
    [{}, ""],
    [{ offset: 3 }, "bytes=3-"],
    [{ length: 3 }, "bytes=0-2"],
    [{ offset: 3, length: 2 }, "bytes=3-4"],
    [{ suffix: 4 }, "bytes=-4"],
    [{ offset: 1, length: Number.MAX_SAFE_INTEGER }, `bytes=1-${Number.MAX_SAFE_INTEGER}`],
    [{ header: "bytes=1-2" }, "bytes=1-2"],
    [{ header: "bytes=-2" }, "bytes=-2"],
    [{ header: "bytes=2-" }, "bytes=2-"],
  ])("writes %j", (range, header) => {
    expect(rangeHeader(range)).toBe(header);
  });

  it.each([
    { length: 0 },
    { suffix: 0 },
    { header: "bytes=-0" },
    { header: "bytes=3-2" },
    { header: "bytes=0-1,3-4" },
    { header: "bytes = 1-2" },
    { header: "items=1-2" },
    { header: `bytes=1-${"9".repeat(30)}` },
  ])("leaves %j to the size of the object", (range) => {
    expect(rangeHeader(range)).toBeNull();
  });
});

describe("parseContentRange()", () => {
  it("reads offset, length and size", () => {
    expect(parseContentRange("bytes 2-4/10")).toEqual({ offset: 2, length: 3, size: 10 });
    expect(parseContentRange("bytes */10")).toBeNull();
    expect(parseContentRange(null)).toBeNull();
  });
});
