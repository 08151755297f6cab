import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiCallError } from "../api-client.ts";
import { isRetryable, retryDelay } from "./retry-policy.ts";

describe("isRetryable()", () => {
  it("repeats calls without a response and errors of the server, and no refusals", () => {
    expect([0, 500, 503].map((status) => isRetryable(new ApiCallError(status, "")))).toEqual([
      true,
      true,
      true,
    ]);
    expect([400, 404, 409, 412].some((status) => isRetryable(new ApiCallError(status, "")))).toBe(
      false,
    );
    expect(isRetryable(new TypeError("a mistake"))).toBe(false);
  });
});

describe("retryDelay()", () => {
  it("is between half of the doubled delay and all of it", () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), random, (failures, value) => {
        const delay = retryDelay(failures, value);
        const longest = 500 * 2 ** (failures - 1);
        expect(delay).toBeGreaterThanOrEqual(longest / 2);
        expect(delay).toBeLessThanOrEqual(longest);
      }),
    );
  });
});
