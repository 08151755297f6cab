import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  objectBytesMax,
  partBytesMin,
  partNumberMax,
  uploadBytesMax,
} from "../../../store/core/limits.ts";
import { partRange, partSize, planParts, singleBytesMax } from "./part-plan.ts";

const mib = 1024 * 1024;
const sizes = fc.oneof(
  fc.integer({ min: singleBytesMax + 1, max: 4096 * mib }),
  fc.integer({ min: singleBytesMax + 1, max: objectBytesMax }),
);

describe("planParts()", () => {
  it("covers the file exactly", () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const plan = planParts(size);
        let covered = 0;
        for (let number = 1; number <= plan.count; number++) {
          const { start, end } = partRange(plan, number);
          if (start !== covered || end <= start) break;
          covered = end;
        }
        expect(covered).toBe(size);
      }),
    );
  });

  it("keeps the limits of the store", () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const plan = planParts(size);
        expect(plan.count).toBeLessThanOrEqual(partNumberMax);
        expect(plan.partBytes).toBeGreaterThanOrEqual(partBytesMin);
        expect(plan.partBytes).toBeLessThanOrEqual(uploadBytesMax);
        const sizesOfParts = Array.from({ length: plan.count }, (_, index) =>
          partSize(plan, index + 1),
        );
        expect(sizesOfParts.pop()).toBeLessThanOrEqual(plan.partBytes);
        expect(sizesOfParts.every((bytes) => bytes === plan.partBytes)).toBe(true);
      }),
    );
  });

  it("uses parts of 16 MiB until 10,000 parts are too few", () => {
    expect(planParts(2048 * mib)).toMatchObject({ partBytes: 16 * mib, count: 128 });
    expect(planParts(160_000 * mib)).toMatchObject({ partBytes: 16 * mib, count: 10_000 });
    expect(planParts(160_000 * mib + 1)).toMatchObject({ partBytes: 17 * mib });
  });

  it("keeps the size of the parts of an upload that has begun", () => {
    expect(planParts(20 * mib, 8 * mib)).toMatchObject({ partBytes: 8 * mib, count: 3 });
  });
});
