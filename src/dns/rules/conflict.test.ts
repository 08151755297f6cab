import { expect, test } from "vitest";
import { findConflict, type Neighbour } from "./conflict.ts";
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
