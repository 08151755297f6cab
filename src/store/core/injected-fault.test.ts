import { describe, expect, it } from "vitest";
import {
  ArmedFault,
  failEffect,
  makeFault,
  slowEffect,
  type FaultTarget,
} from "./injected-fault.ts";

/** Which of ten puts of "a.png" in "photos" a fault meets. */
function met(target: FaultTarget, count = 10): number[] {
  const armed = new ArmedFault(makeFault(target, failEffect()));
  return Array.from({ length: count }, () =>
    armed.meets({ bucket: "photos", method: "put", keys: ["a.png"] }),
  ).filter((turn) => turn !== null);
}

describe("ArmedFault", () => {
  it("meets every call that matches, if nothing else is said", () => {
    expect(met({})).toHaveLength(10);
    expect(met({ bucket: "photos", key: "*.png", method: ["get", "put"] })).toHaveLength(10);
  });

  it("meets no call that differs in anything", () => {
    expect(met({ bucket: "thumbnails" })).toEqual([]);
    expect(met({ key: /\.jpg$/ })).toEqual([]);
    expect(met({ method: "get" })).toEqual([]);
  });

  it("meets the nth call alone, or so many from it on", () => {
    expect(met({ nth: 3 })).toEqual([3]);
    expect(met({ nth: 3, times: 2 })).toEqual([3, 4]);
    expect(met({ times: 2 })).toEqual([1, 2]);
  });

  it("meets the same calls for the same seed, and about as many as asked for", () => {
    const target = { probability: 0.3, seed: 42 };
    expect(met(target, 1000)).toEqual(met(target, 1000));
    expect(met(target, 1000).length).toBeGreaterThan(240);
    expect(met(target, 1000).length).toBeLessThan(360);
    expect(met({ ...target, seed: 43 }, 1000)).not.toEqual(met(target, 1000));
    expect(met({ probability: 0 }, 1000)).toEqual([]);
    expect(met({ probability: 1 }, 1000)).toHaveLength(1000);
  });

  it("meets a deletion by any of its keys", () => {
    const armed = new ArmedFault(makeFault({ key: "b" }, failEffect()));
    expect(armed.meets({ bucket: "photos", method: "delete", keys: ["a", "b"] })).toBe(1);
  });
});

describe("makeFault()", () => {
  it.each<[FaultTarget, string]>([
    [{ method: "fetch" as never }, '"fetch" is no method of a bucket. Use head, get'],
    [{ nth: 0 }, '"nth" is 0: give a whole number from 1.'],
    [{ times: 1.5 }, '"times" is 1.5'],
    [{ probability: 2 }, '"probability" is 2: give a number from 0 to 1.'],
  ])("refuses %j", (target, message) => {
    expect(() => makeFault(target, slowEffect("1s"))).toThrow(message);
  });
});

describe("failEffect()", () => {
  it("knows the texts of the store's errors, and of the one that it never raises", () => {
    expect(failEffect(10024)).toMatchObject({
      text: "The specified multipart upload does not exist.",
    });
    expect(failEffect(10058)).toMatchObject({ text: expect.stringContaining("Reduce") });
    expect(failEffect(12345, "Mine.")).toMatchObject({ code: 12345, text: "Mine." });
    expect(() => failEffect(12345)).toThrow("No error of the store has the code 12345.");
  });
});
