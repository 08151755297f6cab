import { describe, expect, it } from "vitest";
import { ActivityMeter, meterSeconds } from "./activity-meter.ts";
import { callEntry, requestEntry } from "./entry-fixture.ts";

const now = 1_700_000_000_500;
/** A call that ends so many milliseconds ago. */
const ended = (ago: number, milliseconds = 5) =>
  callEntry({ at: now - ago - milliseconds, milliseconds });

describe("ActivityMeter", () => {
  it("counts what ended in each whole second, the last second last", () => {
    const meter = new ActivityMeter();
    meter.add([ended(600), ended(1400), ended(1600)], now);
    expect(meter.read(now).bucket.perSecond.slice(-3)).toEqual([0, 1, 2]);
    expect(meter.read(now + 1000).bucket.perSecond.slice(-3)).toEqual([1, 2, 0]);
    expect(meter.read(now).bucket.perSecond).toHaveLength(meterSeconds);
  });

  it("counts a long call in the second in which the call ended", () => {
    const meter = new ActivityMeter();
    meter.add([ended(1000, 9000)], now);
    expect(meter.read(now).bucket.perSecond.at(-1)).toBe(1);
  });

  it("does not count the second that goes on", () => {
    const meter = new ActivityMeter();
    meter.add([ended(100)], now);
    expect(meter.read(now).bucket.perSecond.at(-1)).toBe(0);
    expect(meter.read(now + 1000).bucket.perSecond.at(-1)).toBe(1);
  });

  it("counts the calls of a request with their kinds, and has percentiles for each kind", () => {
    const meter = new ActivityMeter();
    const calls = [ended(1500, 10), { ...ended(1500, 30), kind: "query" as const }];
    meter.add([requestEntry({ at: now - 2000, milliseconds: 500, calls })], now);
    const measures = meter.read(now);
    expect(measures.request.percentiles?.p50).toBe(500);
    expect(measures.bucket.percentiles?.p99).toBe(10);
    expect(measures.query.percentiles?.p95).toBe(30);
    expect(measures.api.percentiles).toBeNull();
  });

  it("leaves out the explorer's own calls, and what ended more than a minute ago", () => {
    const meter = new ActivityMeter();
    meter.add([{ ...ended(1500), source: "explorer" }, ended(62_000)], now);
    expect(meter.read(now).bucket.percentiles).toBeNull();
  });

  it("forgets what is older than a minute", () => {
    const meter = new ActivityMeter();
    meter.add([ended(1500)], now);
    meter.add([], now + 70_000);
    expect(meter.read(now).bucket.percentiles).toBeNull();
  });
});
