import { expect, it } from "vitest";
import { progressLine } from "./progress.ts";

it("progressLine() draws a bar when the total is known", () => {
  expect(progressLine("Importing", 3, null, 10)).toBe("Importing 3 files, 10 bytes");
  expect(progressLine("Exporting", 1, 4, 10)).toBe(
    `Exporting ${"█".repeat(6)}${"░".repeat(18)} 25%  1 of 4, 10 bytes`,
  );
});
