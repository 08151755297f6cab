import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { percentilesOf } from "./percentiles.ts";

describe("percentilesOf()", () => {
  it("is null without values", () => {
    expect(percentilesOf([])).toBeNull();
  });

  it("takes the nearest rank, in any order of the values", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentilesOf(values)).toEqual({ p50: 50, p95: 95, p99: 99 });
    expect(percentilesOf([9, 100])).toEqual({ p50: 9, p95: 100, p99: 100 });
    expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 });
  });

  it("returns measured values in ascending order", () => {
    const values = fc.array(fc.nat(), { minLength: 1 });
    fc.assert(
      fc.property(values, (given) => {
        const { p50, p95, p99 } = percentilesOf(given)!;
        expect(given).toEqual(expect.arrayContaining([p50, p95, p99]));
        expect(p50 <= p95 && p95 <= p99).toBe(true);
      }),
    );
  });
});
