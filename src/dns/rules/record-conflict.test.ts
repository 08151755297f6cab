import { expect, test } from "vitest";
import { problem } from "../record/problem.ts";
import {
  findConflict,
  isConflict,
  type Neighbour,
  findBrokenTarget,
  wildcardsFor,
  type TargetState,
} from "./record-conflict.ts";
import type { RecordDraft } from "../record/zone-record.ts";

const apex = { zoneName: "example.org", nameServers: ["ns1.ledge.local"] };
const content: Readonly<Record<string, string>> = {
  A: "192.0.2.1",
  AAAA: "::1",
  CNAME: "x.test",
  NS: "ns.test",
  TXT: '"x"',
  DS: "1 8 200 aa",
};

function draft(
  type: string,
  name = "www.example.org",
  more: Partial<RecordDraft> = {},
): RecordDraft {
  const base = {
    ttl: 1,
    proxied: false,
    comment: null,
    tags: [],
    settings: {},
    priority: null,
    privateRouting: false,
  };
  return { ...base, name, type, content: content[type]!, ...more };
}

function other(type: string): Neighbour {
  return { type, content: `other ${type}`, priority: null };
}

function mail(priority: number | null): Neighbour {
  return { type: "MX", content: "m.test", priority };
}

test.each<[added: string, existing: string, code: number | null]>([
  ["A", "A", null],
  ["A", "AAAA", null],
  ["A", "CNAME", 81054],
  ["AAAA", "CNAME", 81054],
  ["CNAME", "A", 81053],
  ["CNAME", "AAAA", 81053],
  ["CNAME", "CNAME", 81053],
  ["CNAME", "TXT", null],
  ["TXT", "CNAME", null],
  ["TXT", "NS", 81056],
  ["A", "NS", 81056],
  ["NS", "A", 81055],
  ["NS", "TXT", 81055],
  ["NS", "NS", null],
  ["NS", "DS", null],
  ["DS", "NS", null],
])("findConflict(): adding %s beside %s below the apex is %s", (added, existing, code) => {
  expect(findConflict(draft(added), [other(existing)], apex)?.code ?? null).toBe(code);
});

test("findConflict() allows NS beside other types at the apex", () => {
  expect(findConflict(draft("NS", "example.org"), [other("A")], apex)).toBeNull();
  expect(findConflict(draft("A", "example.org"), [other("NS")], apex)).toBeNull();
});

test("findConflict() compares type, content and priority of identical records", () => {
  const mx = draft("MX", "www.example.org", { content: "m.test", priority: 10 });
  expect(findConflict(mx, [mail(10)], apex)?.code).toBe(81058);
  expect(findConflict(mx, [mail(20)], apex)).toBeNull();
  const server = draft("NS", "example.org", { content: "ns1.ledge.local" });
  expect(findConflict(server, [], apex)?.code).toBe(81058);
});

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

test("isConflict() tells what other records exclude from what no zone could have", () => {
  expect(isConflict(findConflict(draft("A"), [other("CNAME")], apex)!)).toBe(true);
  expect(isConflict(findConflict(draft("NS"), [other("TXT")], apex)!)).toBe(true);
  expect(isConflict(problem.ipv4Invalid())).toBe(false);
});
