import { expect, it, describe } from "vitest";
import { escapeControls, formatBytes, toMilliseconds } from "./format.ts";

it.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1536, "1.5 KiB"],
  [5 * 1024 ** 3, "5.0 GiB"],
])("formatBytes(%i) is %j", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  ["plain ä 日本 \\ 🎈", "plain ä 日本 \\ 🎈"],
  ["a\nb\t\r", "a\\nb\\t\\r"],
  ["\u001b[2J\u007f\u009b", "\\u001b[2J\\u007f\\u009b"],
  ["gpj.\u202efdp", "gpj.\\u202efdp"],
])("escapeControls(%j) is %j", (text, escaped) => {
  expect(escapeControls(text)).toBe(escaped);
});

it("escapeControls() keeps characters that the caller names", () => {
  expect(escapeControls("a\nb\u0007", "\n")).toBe("a\nb\\u0007");
});

describe("toMilliseconds()", () => {
  it.each([
    ["7d", 604_800_000],
    ["1h30m", 5_400_000],
    ["90 s", 90_000],
    ["1.5s", 1500],
    ["20ms", 20],
    ["-2w", -1_209_600_000],
    [1234, 1234],
    [-1, -1],
  ])("converts %s", (duration, milliseconds) => {
    expect(toMilliseconds(duration)).toBe(milliseconds);
  });

  it.each(["", "7", "7 days", "d", "1h-2m", NaN, Infinity])("rejects %s", (duration) => {
    expect(() => toMilliseconds(duration)).toThrow("is not a length of time. Use milliseconds");
  });
});
