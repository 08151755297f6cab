import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keptScrollTop, scrollTopToShow, visibleRows } from "./row-window.ts";

const view = fc.record({
  rowHeight: fc.integer({ min: 1, max: 100 }),
  scrollTop: fc.double({ min: -100, max: 50_000, noNaN: true }),
  height: fc.integer({ min: 0, max: 3000 }),
});
const count = fc.nat({ max: 1000 });

describe("visibleRows()", () => {
  it("has the rows in sight, and the margin around them", () => {
    const scrolled = { rowHeight: 36, scrollTop: 360, height: 180 };
    expect(visibleRows(scrolled, 1000, 0)).toEqual({ first: 10, end: 15 });
    expect(visibleRows(scrolled, 1000, 4)).toEqual({ first: 6, end: 19 });
  });

  it("has every row in sight, and no row that does not exist", () => {
    fc.assert(
      fc.property(view, count, fc.nat({ max: 20 }), (given, rows, margin) => {
        const { first, end } = visibleRows(given, rows, margin);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeGreaterThanOrEqual(first);
        expect(end).toBeLessThanOrEqual(rows);
        expect(end - first).toBeLessThanOrEqual(given.height / given.rowHeight + 2 + 2 * margin);
        const top = Math.max(0, given.scrollTop);
        const all = Array.from({ length: rows }, (_, row) => row);
        const inSight = all.filter(
          (row) => (row + 1) * given.rowHeight > top && row * given.rowHeight < top + given.height,
        );
        expect(inSight.filter((row) => row < first || row >= end)).toEqual([]);
      }),
    );
  });
});

describe("scrollTopToShow()", () => {
  it("shows the whole row, at the nearest position", () => {
    const shown = { rowHeight: 10, scrollTop: 20, height: 30 };
    expect([4, 1, 5].map((index) => scrollTopToShow(shown, index))).toEqual([20, 10, 30]);
  });

  it("gives a position from which the row stays in sight", () => {
    fc.assert(
      fc.property(view, count, (given, index) => {
        fc.pre(given.height >= given.rowHeight && given.scrollTop >= 0);
        const scrollTop = scrollTopToShow(given, index);
        expect(scrollTopToShow({ ...given, scrollTop }, index)).toBe(scrollTop);
        const { first, end } = visibleRows({ ...given, scrollTop }, index + 1, 0);
        expect([first <= index, end]).toEqual([true, index + 1]);
      }),
    );
  });
});

describe("keptScrollTop()", () => {
  const rowHeight = 10;

  it("follows the row at the top of the window, or the next row when that row is gone", () => {
    const before = ["a", "b", "c", "d"];
    const at = (after: string[], scrollTop: number) =>
      keptScrollTop(before, after, { scrollTop, rowHeight });
    expect(at(["0", "1", ...before], 15)).toBe(35);
    expect(at(["a", "b", "d"], 20)).toBe(10);
    expect(at(["d"], 20)).toBe(0);
  });

  it("leaves a list alone that is not scrolled, or that has other rows", () => {
    expect(keptScrollTop(["a"], ["0", "a"], { scrollTop: 0, rowHeight })).toBe(0);
    expect(keptScrollTop(["a", "b"], ["c", "d"], { scrollTop: 10, rowHeight })).toBe(10);
  });

  it("keeps each row in sight at its place, for any rows that come and go", () => {
    const ids = fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(ids, ids, fc.nat(500), (before, after, scrollTop) => {
        const top = Math.floor(scrollTop / rowHeight);
        const first = before.slice(top).find((id) => after.includes(id));
        fc.pre(scrollTop > 0 && first !== undefined);
        const kept = keptScrollTop(before, after, { scrollTop, rowHeight });
        const moved = before.indexOf(first) * rowHeight - scrollTop;
        expect(kept).toBe(Math.max(0, after.indexOf(first) * rowHeight - moved));
      }),
    );
  });
});
