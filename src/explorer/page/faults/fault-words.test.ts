import { describe, expect, it } from "vitest";
import { faultWords, offsetWords } from "./fault-words.ts";

const day = 86_400_000;
const usual = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };
const faults = (...texts: string[]) => texts.map((text) => ({ text, hits: 0 }));

describe("offsetWords()", () => {
  it.each([
    [8 * day, "8 days ahead"],
    [-3_600_000, "1 hour behind"],
    [day + 2 * 3_600_000 + 5000, "1 day and 2 hours ahead"],
    [90_500, "1 minute and 30 seconds ahead"],
  ])("writes %d as %s", (milliseconds, words) => {
    expect(offsetWords(milliseconds)).toBe(words);
  });
});

describe("faultWords()", () => {
  it("is null when nothing is on", () => {
    expect(faultWords(usual)).toBeNull();
  });

  it.each([
    [{ faults: faults("dns:drop:*") }, "1 fault"],
    [{ latencyMilliseconds: 200 }, "200 ms of latency"],
    [
      { faults: faults("put:*:10001", "dns:drop:*"), clockOffsetMilliseconds: 8 * day },
      "2 faults and a clock 8 days ahead",
    ],
    [
      { faults: faults("get:*:drop"), latencyMilliseconds: 2000, clockOffsetMilliseconds: -1000 },
      "1 fault, 2 seconds of latency and a clock 1 second behind",
    ],
  ])("says %j as %s", (state, words) => {
    expect(faultWords({ ...usual, ...state })).toBe(words);
  });
});
