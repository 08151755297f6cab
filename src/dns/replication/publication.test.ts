import { describe, expect, test } from "vitest";
import type { ZoneRecord } from "../record/zone-record.ts";
import { followChange, netChange } from "./publication.ts";

function record(id: string, content = "192.0.2.1"): ZoneRecord {
  const dates = {
    createdOn: "2026-01-01T00:00:00Z",
    modifiedOn: "2026-01-01T00:00:00Z",
    commentModifiedOn: null,
    tagsModifiedOn: null,
    privateRouting: false,
  };
  const place = { id, name: `${id}.example.org`, type: "A", content, priority: null, ttl: 60 };
  return { ...place, ...dates, proxied: false, comment: "mine", tags: ["a:b"], settings: {} };
}

describe("netChange()", () => {
  test("has a record as it was before and as it is after, and no state between", () => {
    const [first, second, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((content) =>
      record("a", content),
    );
    const { removed, added } = netChange([
      { action: "remove", record: first! },
      { action: "add", record: second! },
      { action: "remove", record: second! },
      { action: "add", record: third! },
    ]);
    expect(removed).toEqual([{ id: "a", name: "a.example.org" }]);
    expect(added.map(({ id, content }) => [id, content])).toEqual([["a", "192.0.2.3"]]);
  });

  test("leaves out records that were added and removed again", () => {
    const steps = [
      { action: "add" as const, record: record("a") },
      { action: "remove" as const, record: record("a") },
    ];
    expect(netChange(steps)).toEqual({ removed: [], added: [] });
  });

  test("leaves out comments, tags and dates", () => {
    const { added } = netChange([{ action: "add", record: record("a") }]);
    expect(Object.keys(added[0]!).sort()).toEqual(
      ["content", "id", "name", "priority", "proxied", "settings", "ttl", "type"].sort(),
    );
  });
});

describe("followChange()", () => {
  test.each([
    [null, "reload"],
    [4, "reload"],
    [5, "apply"],
    [6, "ignore"],
    [7, "ignore"],
  ] as const)("at %s: %s", (at, expected) => {
    expect(followChange(at, { from: 5, to: 6 })).toBe(expected);
  });

  test("wraps at the largest serial (RFC 1982)", () => {
    const [last, first] = [2 ** 32 - 1, 0];
    expect(followChange(last, { from: last, to: first })).toBe("apply");
    expect(followChange(1, { from: last, to: first })).toBe("ignore");
    expect(followChange(last - 1, { from: last, to: first })).toBe("reload");
  });
});
