import * as fc from "fast-check";
import { expect, it } from "vitest";
import { splitBody } from "./body-split.ts";

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
])("splitBody() keeps of %d bytes %d in their row", (size, kept) => {
  expect(splitBody(size)).toBe(kept);
});

const rowsAPage = (size: number) => Math.floor(4088 / (size + 12));

it("splitBody() cuts off little, and only where a page holds more rows for it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), (size) => {
      const kept = splitBody(size);
      const pays = kept === size || rowsAPage(kept) > rowsAPage(size);
      expect(pays && kept <= size && size - kept <= 48).toBe(true);
    }),
  );
});
