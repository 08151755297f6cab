import { expect, test } from "vitest";
import { findBrokenTarget, wildcardsFor, type TargetState } from "./proxied-target.ts";

const zone: Readonly<Record<string, TargetState>> = {
  "address.test": { hasAddress: true, cname: null },
  "one.test": { hasAddress: false, cname: "two.test" },
  "two.test": { hasAddress: false, cname: "address.test" },
  "text.test": { hasAddress: false, cname: null },
  "dangling.test": { hasAddress: false, cname: "gone.test" },
  "loop-a.test": { hasAddress: false, cname: "loop-b.test" },
  "loop-b.test": { hasAddress: false, cname: "loop-a.test" },
  "leaves.test": { hasAddress: false, cname: "www.external.example" },
};
for (let index = 0; index < 30; index++) {
  Object.assign(zone, {
    [`long-${index}.test`]: { hasAddress: false, cname: `long-${index + 1}.test` },
  });
}

function lookUp(name: string): TargetState {
  return name.endsWith(".test") ? (zone[name] ?? null) : "external";
}

test.each([
  ["address.test", null],
  ["one.test", null],
  ["leaves.test", null],
  ["www.external.example", null],
  ["gone.test", "gone.test"],
  ["dangling.test", "gone.test"],
  ["text.test", "text.test"],
  ["loop-a.test", "loop-a.test"],
  ["long-0.test", "long-0.test"],
])("findBrokenTarget(%s) is %s", (target, broken) => {
  expect(findBrokenTarget(target, lookUp)).toBe(broken);
});

test("wildcardsFor() stops at the zone", () => {
  expect(wildcardsFor("a.b.example.org", "example.org")).toEqual([
    "*.b.example.org",
    "*.example.org",
  ]);
  expect(wildcardsFor("example.org", "example.org")).toEqual([]);
});
