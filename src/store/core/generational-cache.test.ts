import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Recent } from "./generational-cache.ts";

const weightMax = 100;

/** Values that weigh what they are. */
function recent(): Recent<number> {
  return new Recent(weightMax, (_, weight) => weight);
}

describe("Recent", () => {
  it("remembers what was set, until it is deleted", () => {
    const values = recent();
    values.set("a", 1);
    values.set("a", 2);
    expect(values.get("a")).toBe(2);
    values.delete("a");
    expect(values.get("a")).toBeUndefined();
  });

  it("forgets what nobody has used while two generations went by", () => {
    const values = recent();
    values.set("unused", 20);
    values.set("used", 20);
    for (let index = 0; index < 10; index++) {
      values.set(`${index}`, 20);
      expect(values.get("used")).toBe(20);
    }
    expect(values.get("unused")).toBeUndefined();
  });

  it("does not give up all it has for one large value", () => {
    const values = recent();
    values.set("a", 1);
    values.set("large", weightMax / 4 + 1);
    expect(values.get("large")).toBeUndefined();
    expect(values.get("a")).toBe(1);
  });

  it("forgets an older value of the key when the new one is too large to keep", () => {
    const values = recent();
    values.set("a", 1);
    values.set("a", weightMax);
    expect(values.get("a")).toBeUndefined();
  });

  it("forgets everything when it is cleared, of both generations", () => {
    const values = recent();
    const keys = Array.from({ length: 8 }, (_, index) => `${index}`);
    for (const key of keys) values.set(key, 20);
    values.clear();
    expect(keys.map((key) => values.get(key))).toStrictEqual(keys.map(() => undefined));
  });

  it("never says anything but what was set last, and holds two generations at most", () => {
    const someKey = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
    const step = fc.record({
      kind: fc.constantFrom("set", "set", "set", "delete", "clear"),
      key: someKey,
      weight: fc.integer({ min: 1, max: 40 }),
      looked: someKey,
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const values = recent();
        const model = new Map<string, number>();
        for (const { kind, key, weight, looked } of steps) {
          if (kind === "set") {
            values.set(key, weight);
            model.set(key, weight);
          } else if (kind === "delete") {
            values.delete(key);
            model.delete(key);
          } else {
            values.clear();
            model.clear();
          }
          expect([undefined, model.get(looked)]).toContain(values.get(looked));
        }
        const held = [...model.keys()].map((key) => values.get(key) ?? 0);
        expect(held.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(2 * weightMax);
      }),
    );
  });
});
