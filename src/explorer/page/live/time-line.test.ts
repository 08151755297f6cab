import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callEntry, requestEntry } from "./entry-fixture.ts";
import { timeLineOf } from "./time-line.ts";

describe("timeLineOf()", () => {
  it("places the calls in the order of their start", () => {
    const request = requestEntry({
      at: 1000,
      milliseconds: 100,
      calls: [
        callEntry({ at: 1050, milliseconds: 25, subject: "late" }),
        callEntry({ at: 1010, milliseconds: 30, subject: "early" }),
      ],
    });
    const { milliseconds, bars } = timeLineOf(request);
    expect(milliseconds).toBe(100);
    expect(bars.map(({ call }) => call.subject)).toEqual(["early", "late"]);
    expect(bars[0]).toMatchObject({ offset: 10, startPercent: 10, widthPercent: 30 });
  });

  it("is longer than the request if a call goes on after the response", () => {
    const calls = [callEntry({ at: 1100, milliseconds: 100 })];
    const line = timeLineOf(requestEntry({ at: 1000, milliseconds: 100, calls }));
    expect(line.milliseconds).toBe(200);
    expect(line.bars[0]).toMatchObject({ startPercent: 50, widthPercent: 50 });
  });

  it("begins with a call that another clock has before the request", () => {
    const calls = [callEntry({ at: 998, milliseconds: 50 })];
    const { bars } = timeLineOf(requestEntry({ at: 1000, milliseconds: 100, calls }));
    expect(bars[0]).toMatchObject({ offset: 0, startPercent: 0, widthPercent: 50 });
  });

  it("stays within the line, for any times", () => {
    const times = fc.record({ at: fc.integer({ min: 0, max: 9000 }), milliseconds: fc.nat(9000) });
    fc.assert(
      fc.property(times, fc.array(times), (request, calls) => {
        const { bars } = timeLineOf(
          requestEntry({ ...request, calls: calls.map((call) => callEntry(call)) }),
        );
        for (const { startPercent, widthPercent } of bars) {
          expect(startPercent).toBeGreaterThanOrEqual(0);
          expect(widthPercent).toBeGreaterThanOrEqual(0);
          expect(startPercent + widthPercent).toBeLessThanOrEqual(100 + 1e-9);
        }
      }),
    );
  });
});
