import { describe, expect, it } from "vitest";
import type { DnsRecord } from "../../api/zones-api.ts";
import {
  draftOf,
  edgeUrl,
  nextSort,
  placeFinder,
  recordRequest,
  splitName,
} from "./record-rules.ts";

const record: DnsRecord = {
  id: "1",
  name: "example.org",
  type: "MX",
  content: "mail.example.org",
  priority: 20,
  ttl: 1,
  proxiable: false,
  proxied: false,
  comment: null,
  tags: ["a:1", "b:2"],
  modified_on: "",
};
const type = { type: "MX", example: "", hasPriority: true, isProxiable: false };

it("edgeUrl() leads to names that have an address, by the port of the dev server", () => {
  const script = "http://localhost:8787";
  expect(edgeUrl("a_b.example.org", script)).toBe("http://a_b.example.org.localhost:8787/");
  expect(edgeUrl("example.org", "https://127.0.0.1:9000/")).toBe(
    "https://example.org.localhost:9000/",
  );
  expect(edgeUrl("*.example.org", script)).toBeNull();
  expect(edgeUrl("a\\.b.example.org", script)).toBeNull();
  expect(edgeUrl("example.org", null)).toBeNull();
});

describe("recordRequest()", () => {
  it("has the values of a record that was not changed", () => {
    expect(recordRequest(draftOf(record), type)).toEqual({
      type: "MX",
      name: "example.org",
      content: "mail.example.org",
      priority: 20,
      ttl: 1,
      proxied: false,
      comment: "",
      tags: ["a:1", "b:2"],
    });
  });

  it("takes an empty name for the zone, and the TTL of a proxied record for automatic", () => {
    const draft = { ...draftOf(record), name: " ", ttl: "300", proxied: true };
    const address = { ...type, hasPriority: false, isProxiable: true };
    const request = recordRequest(draft, address);
    expect(request).toMatchObject({ name: "@", ttl: 1, proxied: true });
    expect(request).not.toHaveProperty("priority");
  });

  it.each([
    ["Auto", 1],
    ["", 1],
    [" 300 ", 300],
    ["soon", "soon"],
  ])("sends the TTL %j as %j", (ttl, sent) => {
    expect(recordRequest({ ...draftOf(record), ttl }, type)["ttl"]).toBe(sent);
  });
});

it.each([
  ["www.example.org", ["www", ".example.org"]],
  ["example.org", ["", "example.org"]],
  ["www.otherexample.org", ["www.otherexample.org", ""]],
])("splitName() divides %s", (name, parts) => {
  expect(splitName(name, "example.org")).toEqual(parts);
});

it("nextSort() sorts a column up, then down", () => {
  expect(nextSort("name", "ttl")).toBe("ttl");
  expect(nextSort("ttl", "ttl")).toBe("-ttl");
  expect(nextSort("-ttl", "ttl")).toBe("ttl");
});

it("placeFinder() leads to the records of the nearest zone that the rules name", () => {
  const zones = ["example.org", "sub.example.org", "example.net"];
  const placeOf = placeFinder([
    ...zones.map((name) => ({ rule: "zone", name, text: "" })),
    { rule: "exact", name: "www.example.com", text: "" },
  ]);
  const records = { view: "records", record: null };
  const inSub = { ...records, zone: "sub.example.org" };
  expect(placeOf("www.sub.example.org")).toEqual({ ...inSub, search: "www.sub.example.org" });
  expect(placeOf("sub.example.org")).toEqual({ ...inSub, search: "" });
  expect(placeOf("a.example.net")).toMatchObject({ zone: "example.net" });
  expect(placeOf("www.example.com")).toBeNull();
  expect(placeOf("notexample.org")).toBeNull();
});
