import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrollTopToShow, visibleRows } from "./row-window.ts";

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

  it("has a row of which a part is in sight", () => {
    expect(visibleRows({ rowHeight: 36, scrollTop: 35, height: 38 }, 10, 0)).toEqual({
      first: 0,
      end: 3,
    });
  });

  it("has every row in sight, and no row that does not exist", () => {
    fc.assert(
      fc.property(view, count, fc.nat({ max: 20 }), (given, rows, margin) => {
        const { first, end } = visibleRows(given, rows, margin);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeGreaterThanOrEqual(first);
        expect(end).toBeLessThanOrEqual(rows);
        const top = Math.max(0, given.scrollTop);
        const all = Array.from({ length: rows }, (_, row) => row);
        const inSight = all.filter(
          (row) => (row + 1) * given.rowHeight > top && row * given.rowHeight < top + given.height,
        );
        expect(inSight.filter((row) => row < first || row >= end)).toEqual([]);
      }),
    );
  });

  it("has a number of rows that depends on the height, and not on how many there are", () => {
    fc.assert(
      fc.property(view, count, fc.nat({ max: 20 }), (given, rows, margin) => {
        const { first, end } = visibleRows(given, rows, margin);
        expect(end - first).toBeLessThanOrEqual(given.height / given.rowHeight + 2 + 2 * margin);
      }),
    );
  });
});

describe("scrollTopToShow()", () => {
  it("stays where the row is in sight", () => {
    expect(scrollTopToShow({ rowHeight: 10, scrollTop: 20, height: 30 }, 4)).toBe(20);
  });

  it("shows the whole row, at the nearest position", () => {
    expect(scrollTopToShow({ rowHeight: 10, scrollTop: 20, height: 30 }, 1)).toBe(10);
    expect(scrollTopToShow({ rowHeight: 10, scrollTop: 20, height: 30 }, 5)).toBe(30);
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
