import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowWindow, scrollToRow } from "./row-window.ts";

describe("rowWindow()", () => {
  it("has every row in sight and few others, for any scroll position", () => {
    const numbers = fc.record({ top: fc.nat(80_000), height: fc.nat(2000) });
    fc.assert(
      fc.property(numbers, fc.nat(2000), (scroll, count) => {
        const { first, end } = rowWindow(scroll, { count, height: 36 });
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(count);
        expect(end - first).toBeLessThanOrEqual(Math.ceil(scroll.height / 36) + 17);
        const inSight = Math.floor((scroll.top + scroll.height / 2) / 36);
        expect(inSight >= count || (inSight >= first && inSight < end)).toBe(true);
      }),
    );
  });
});

describe("scrollToRow()", () => {
  it("moves no further than the row needs", () => {
    expect(scrollToRow(0, 36, { top: 100, height: 360 })).toBe(0);
    expect(scrollToRow(5, 36, { top: 100, height: 360 })).toBe(100);
    expect(scrollToRow(20, 36, { top: 100, height: 360 })).toBe(396);
  });
});
