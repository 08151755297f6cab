import { expect, it } from "vitest";
import { byteProgressLine, oneLine, progressLine } from "./progress.ts";

it("progressLine() draws a bar when the total is known", () => {
  expect(progressLine("Importing", 3, null, 10)).toBe("Importing 3 files, 10 bytes");
  expect(progressLine("Exporting", 1, 4, 10)).toBe(
    `Exporting ${"█".repeat(6)}${"░".repeat(18)} 25%  1 of 4, 10 bytes`,
  );
});

it("byteProgressLine() draws the bytes of one file", () => {
  expect(byteProgressLine("cat.png", 512, 2048)).toBe(
    `cat.png ${"█".repeat(6)}${"░".repeat(18)} 25%  512 bytes of 2.0 KiB`,
  );
});

it("oneLine() leaves the last column of a terminal empty", () => {
  expect(oneLine("abc", 4)).toBe("abc");
  expect(oneLine("abcd", 4)).toBe("abc");
  expect(oneLine("x".repeat(100), 0)).toBe("x".repeat(79));
});
