import { describe, expect, it } from "vitest";
import { always, describeTiming, readTiming, writeTiming } from "./fault-timing.ts";

describe("readTiming()", () => {
  it.each([
    [[], always],
    [["times=2"], { kind: "times", value: "2" }],
    [["nth=3"], { kind: "nth", value: "3" }],
    [["probability=0.5"], { kind: "probability", value: "0.5" }],
  ] as const)("reads %j, which writeTiming() writes", (options, timing) => {
    expect(readTiming(options)).toEqual(timing);
    expect(writeTiming(timing)).toEqual(options);
  });

  it.each([[["nth=2", "times=2"]], [["seed=1"]], [["server=::1"]]])(
    "is null for %j, which the form does not have",
    (options) => {
      expect(readTiming(options)).toBeNull();
    },
  );
});

describe("describeTiming()", () => {
  it.each([
    [always, "every query"],
    [{ kind: "times", value: "1" }, "the first query"],
    [{ kind: "times", value: "2" }, "the first 2 queries"],
    [{ kind: "nth", value: "3" }, "only query number 3"],
    [{ kind: "probability", value: "0.125" }, "12.5% of the queries"],
  ] as const)("writes %j as %s", (timing, text) => {
    expect(describeTiming(timing, "query")).toBe(text);
  });
});
