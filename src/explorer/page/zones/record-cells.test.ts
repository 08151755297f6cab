import { describe, expect, it } from "vitest";
import type { DnsRecord } from "../../api/zones-api.ts";
import {
  cellEditing,
  cellPatch,
  cellText,
  nextSort,
  recordColumns,
  splitName,
} from "./record-cells.ts";

const record: DnsRecord = {
  id: "1",
  name: "www.example.org",
  type: "MX",
  content: "mail.example.org",
  priority: 10,
  ttl: 1,
  proxiable: false,
  proxied: false,
  comment: null,
  tags: ["a:1", "b:2"],
  modified_on: "",
};

describe("cellPatch()", () => {
  it("has no change when the text is what the record has", () => {
    for (const { column } of recordColumns) {
      expect(cellPatch(record, column, cellText(record, column))).toBeNull();
    }
  });

  it.each([
    ["name", " mail ", { name: "mail" }],
    ["content", "<b>", { content: "<b>" }],
    ["priority", "20", { priority: 20 }],
    ["priority", "", { priority: "" }],
    ["ttl", "300", { ttl: 300 }],
    ["ttl", "soon", { ttl: "soon" }],
    ["comment", "note", { comment: "note" }],
    ["tags", "b:2,, c:3", { tags: ["b:2", "c:3"] }],
    ["tags", "", { tags: [] }],
  ] as const)("makes of %s %j the request %j", (column, text, patch) => {
    expect(cellPatch(record, column, text)).toEqual(patch);
  });

  it("takes auto for the automatic TTL", () => {
    expect(cellPatch({ ...record, ttl: 300 }, "ttl", "Auto")).toEqual({ ttl: 1 });
  });
});

describe("cellEditing()", () => {
  it("opens the form for content that has fields", () => {
    expect(cellEditing(record, "content")).toBe("text");
    expect(cellEditing({ ...record, data: { port: 1 } }, "content")).toBe("form");
  });

  it("edits no value that the record does not have", () => {
    const { priority: _, ...other } = record;
    expect(cellEditing(other, "priority")).toBeNull();
    expect(cellEditing({ ...record, proxied: true }, "ttl")).toBeNull();
    expect(cellEditing(record, "type")).toBeNull();
  });
});

describe("nextSort()", () => {
  it("sorts by another column in ascending order, and by the same column the other way", () => {
    expect(nextSort("name", "type")).toBe("type");
    expect(nextSort("type", "type")).toBe("-type");
    expect(nextSort("-type", "type")).toBe("type");
  });
});

describe("splitName()", () => {
  it.each([
    ["www.example.org", ["www", ".example.org"]],
    ["example.org", ["", "example.org"]],
    ["notexample.org", ["notexample.org", ""]],
  ])("splits %s", (name, parts) => {
    expect(splitName(name, "example.org")).toEqual(parts);
  });
});
