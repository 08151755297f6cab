import { describe, expect, it } from "vitest";
import {
  addFault,
  moveClock,
  presets,
  removeFault,
  setClockBack,
  usualConditions,
} from "./condition-changes.ts";
import { readBucketFault } from "./bucket-fault-form.ts";
import { readDnsFault } from "./dns-fault-form.ts";

describe("addFault()", () => {
  it("puts a fault into the list of its subject, once", () => {
    const one = addFault("put:*:10001")(usualConditions);
    const two = addFault("dns:drop:*")(one);
    expect(two.bucketFaults).toEqual([{ text: "put:*:10001" }]);
    expect(two.dnsFaults).toEqual([{ text: "dns:drop:*" }]);
    expect(addFault("dns:drop:*")(two)).toBe(two);
  });

  it("is undone by removeFault()", () => {
    const both = addFault("dns:drop:*")(addFault("put:*:10001")(usualConditions));
    expect(removeFault("dns:drop:*")(removeFault("put:*:10001")(both))).toEqual(usualConditions);
  });
});

describe("moveClock()", () => {
  it("adds to the offset, and setClockBack() removes the offset", () => {
    const moved = moveClock(1000)(moveClock(500)(usualConditions));
    expect(moved.clockOffsetMilliseconds).toBe(1500);
    expect(setClockBack(moved)).toEqual(usualConditions);
  });
});

describe("presets", () => {
  it.each(presets.map(({ label, change }) => [label, change(usualConditions)] as const))(
    "%s: is unusual, and has faults that the forms show",
    (_, conditions) => {
      expect(conditions).not.toEqual(usualConditions);
      for (const { text } of conditions.bucketFaults) expect(readBucketFault(text)).not.toBeNull();
      for (const { text } of conditions.dnsFaults) expect(readDnsFault(text)).not.toBeNull();
    },
  );
});
