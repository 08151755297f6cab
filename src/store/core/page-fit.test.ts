import * as fc from "fast-check";
import { expect, it } from "vitest";
import { fitBodyToPage } from "./page-fit.ts";

it.each([
  [0, 0],
  [100, 100],
  [256, 243],
  [512, 499],
  [1010, 1010],
  [1024, 1010],
  [1100, 1100],
  [2048, 2032],
  [4096, 4057],
  [8192, 8192],
  [131_072, 131_072],
])("fitBodyToPage() of %d bytes is %d", (size, kept) => {
  expect(fitBodyToPage(size)).toBe(kept);
});

const rowsPerPage = (size: number) => Math.floor(4088 / (size + 12));

it("fitBodyToPage() cuts off at most 48 bytes, and only if more rows fit into a page", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), (size) => {
      const kept = fitBodyToPage(size);
      const pays = kept === size || rowsPerPage(kept) > rowsPerPage(size);
      expect(pays && kept <= size && size - kept <= 48).toBe(true);
    }),
  );
});
