import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayMilliseconds, dueAction, dueTime, lastMidnight, type ObjectRule } from "./lifecycle.ts";

const at = (text: string): number => Date.parse(text);
const remove = (prefix: string, days: number): ObjectRule => ({
  prefix,
  action: "delete",
  after: { days },
});
const move = (prefix: string, days: number): ObjectRule => ({
  ...remove(prefix, days),
  action: "InfrequentAccess",
});

describe("dueTime()", () => {
  it.each([
    ["2026-01-01T15:00:00Z", 1, "2026-01-03T00:00:00Z"],
    ["2026-01-01T00:00:00Z", 1, "2026-01-02T00:00:00Z"],
    ["2026-01-01T00:00:00.001Z", 1, "2026-01-03T00:00:00Z"],
    ["2026-02-27T23:59:59.999Z", 2, "2026-03-02T00:00:00Z"],
    ["2026-01-01T15:00:00Z", 0, "2026-01-02T00:00:00Z"],
  ])("rounds %s and %i days up to %s", (uploaded, days, due) => {
    expect(dueTime(remove("", days), at(uploaded))).toBe(at(due));
  });

  it("is the date of a rule with a date, whenever the object was stored", () => {
    const time = at("2026-05-01T00:00:00Z");
    expect(dueTime({ after: { time } }, at("2026-04-01T00:00:00Z"))).toBe(time);
    expect(dueTime({ after: { time } }, at("2026-06-01T00:00:00Z"))).toBe(time);
  });

  it("is a midnight, at least the days and less than a day more after the object", () => {
    const times = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(times, fc.nat(10_000), (uploaded, days) => {
        const due = dueTime(remove("", days), uploaded);
        expect(due % dayMilliseconds).toBe(0);
        const wait = due - uploaded - days * dayMilliseconds;
        expect(wait >= 0 && wait < dayMilliseconds).toBe(true);
      }),
    );
  });
});

describe("dueAction()", () => {
  const uploaded = at("2026-01-01T12:00:00Z");
  const object = { key: "logs/a", uploaded, storageClass: "Standard" as const };
  const decide = (
    rules: readonly ObjectRule[],
    now: string,
    changed: Partial<typeof object> = {},
  ) => dueAction({ ...object, ...changed }, rules, at(now));

  it("deletes from the midnight on, and only what has the prefix", () => {
    const rules = [remove("logs/", 1)];
    expect(decide(rules, "2026-01-02T23:59:59.999Z")).toBeNull();
    expect(decide(rules, "2026-01-03T00:00:00Z")).toBe("delete");
    expect(decide(rules, "2026-01-03T00:00:00Z", { key: "log" })).toBeNull();
    expect(decide([], "2030-01-01T00:00:00Z")).toBeNull();
  });

  it("moves objects of the class Standard, once", () => {
    const rules = [move("", 1)];
    expect(decide(rules, "2026-01-03T00:00:00Z")).toBe("InfrequentAccess");
    const moved = { ...object, storageClass: "InfrequentAccess" as const };
    expect(dueAction(moved, rules, at("2026-01-03T00:00:00Z"))).toBeNull();
    expect(dueAction(moved, [remove("", 1)], at("2026-01-03T00:00:00Z"))).toBe("delete");
  });

  it("deletes where both rules are due, in any order", () => {
    const rules = [move("logs/", 1), remove("", 1)];
    expect(decide(rules, "2026-01-03T00:00:00Z")).toBe("delete");
    expect(decide(rules.toReversed(), "2026-01-03T00:00:00Z")).toBe("delete");
  });

  it("decides the same from one midnight to the next", () => {
    const rule = fc.record({
      prefix: fc.constantFrom("", "logs/"),
      action: fc.constantFrom("delete", "InfrequentAccess"),
      after: fc.oneof(
        fc.record({ days: fc.nat(5) }),
        fc.record({
          time: fc.nat(8).map((days) => lastMidnight(uploaded) + days * dayMilliseconds),
        }),
      ),
    });
    const time = fc.nat(9 * dayMilliseconds).map((passed) => uploaded + passed);
    fc.assert(
      fc.property(fc.array(rule), time, (rules, now) => {
        expect(dueAction(object, rules, now)).toBe(dueAction(object, rules, lastMidnight(now)));
      }),
    );
  });
});
