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
  [4057, 4057],
  [4076, 4057],
  [4096, 4057],
  [8192, 8192],
  [131_072, 131_072],
])("fitBodyToPage() of %d bytes is %d", (size, kept) => {
  expect(fitBodyToPage(size)).toBe(kept);
});

/** A row with more than 4057 bytes continues on other pages. */
const rowsPerPage = (size: number) => (size > 4057 ? 0 : Math.floor(4088 / (size + 12)));

it("fitBodyToPage() cuts off at most 48 bytes, and only if more rows fit into a page", () => {
  const sizes = Array.from({ length: 10_001 }, (_, size) => size);
  const wrong = sizes.filter((size) => {
    const kept = fitBodyToPage(size);
    const pays = kept === size || rowsPerPage(kept) > rowsPerPage(size);
    return !pays || kept > size || size - kept > 48;
  });
  expect(wrong).toEqual([]);
});
