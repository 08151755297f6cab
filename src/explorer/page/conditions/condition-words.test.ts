import { describe, expect, it } from "vitest";
import { usualConditions } from "./condition-changes.ts";
import { durationWords, offsetWords, unusualWords } from "./condition-words.ts";

const day = 86_400_000;
const faults = (...texts: string[]) => texts.map((text) => ({ text }));

describe("durationWords()", () => {
  it.each([
    [0, "0 ms"],
    [200, "200 ms"],
    [1500, "1 second and 500 ms"],
    [60_000, "1 minute"],
    [90_000, "1 minute and 30 seconds"],
    [8 * day, "8 days"],
    [day + 2 * 3_600_000 + 5000, "1 day and 2 hours"],
  ])("writes %d as %s", (milliseconds, words) => {
    expect(durationWords(milliseconds)).toBe(words);
  });
});

describe("offsetWords()", () => {
  it("says the direction", () => {
    expect(offsetWords(8 * day)).toBe("8 days ahead");
    expect(offsetWords(-3_600_000)).toBe("1 hour behind");
  });
});

describe("unusualWords()", () => {
  it("is null when all is usual", () => {
    expect(unusualWords(usualConditions)).toBeNull();
  });

  it.each([
    [{ dnsFaults: faults("dns:drop:*") }, "1 fault"],
    [{ latencyMilliseconds: 200 }, "200 ms of latency"],
    [
      {
        bucketFaults: faults("put:*:10001"),
        dnsFaults: faults("dns:drop:*"),
        clockOffsetMilliseconds: 8 * day,
      },
      "2 faults and a clock 8 days ahead",
    ],
    [
      {
        bucketFaults: faults("put:*:10001"),
        latencyMilliseconds: 2000,
        clockOffsetMilliseconds: -1000,
      },
      "1 fault, 2 seconds of latency and a clock 1 second behind",
    ],
  ])("says %j as %s", (conditions, words) => {
    expect(unusualWords({ ...usualConditions, ...conditions })).toBe(words);
  });
});
