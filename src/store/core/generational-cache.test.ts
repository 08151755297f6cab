import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GenerationalCache } from "./generational-cache.ts";

const weightMax = 100;

/** The weight of a value is the value. */
function makeCache(): GenerationalCache<number> {
  return new GenerationalCache(weightMax, (_, weight) => weight);
}

describe("GenerationalCache", () => {
  it("drops a value that was not used for two generations", () => {
    const cache = makeCache();
    cache.set("unused", 20);
    cache.set("used", 20);
    for (let index = 0; index < 10; index++) {
      cache.set(`${index}`, 20);
      expect(cache.get("used")).toBe(20);
    }
    expect(cache.get("unused")).toBeUndefined();
  });

  it("does not take a value above a quarter of a generation", () => {
    const cache = makeCache();
    cache.set("a", 1);
    cache.set("large", weightMax / 4 + 1);
    expect(cache.get("large")).toBeUndefined();
    expect(cache.get("a")).toBe(1);
  });

  it("drops the old value of a key when the new value is too large", () => {
    const cache = makeCache();
    cache.set("a", 1);
    cache.set("a", weightMax);
    expect(cache.get("a")).toBeUndefined();
  });

  it("returns only the last value of a key, and holds at most two generations", () => {
    const someKey = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
    const step = fc.record({
      kind: fc.constantFrom("set", "set", "set", "delete", "clear"),
      key: someKey,
      weight: fc.integer({ min: 1, max: 40 }),
      looked: someKey,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const cache = makeCache();
        const model = new Map<string, number>();
        for (const { kind, key, weight, looked } of steps) {
          if (kind === "set") {
            cache.set(key, weight);
            model.set(key, weight);
          } else if (kind === "delete") {
            cache.delete(key);
            model.delete(key);
          } else {
            cache.clear();
            model.clear();
          }
          expect([undefined, model.get(looked)]).toContain(cache.get(looked));
        }
        const held = [...model.keys()].map((key) => cache.get(key) ?? 0);
        expect(held.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(2 * weightMax);
      }),
    );
  });
});
