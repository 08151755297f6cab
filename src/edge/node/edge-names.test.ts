/** Which names are the edge's, by what dev servers announce. */
import { describe, expect, it } from "vitest";
import type { EdgeMember, ScriptRoute } from "../core/edge-table.ts";
import { fixedNames, isMemberName } from "./edge-names.ts";

function memberWith(
  ...routes: (Partial<ScriptRoute> & { readonly pattern: string })[]
): EdgeMember {
  return {
    id: "1",
    processId: 1,
    url: "http://127.0.0.1:8787",
    token: "",
    scripts: ["a"],
    routes: routes.map((route) => ({ isCustomDomain: false, script: "a", ...route })),
    buckets: [{ bucketName: "cdn", hosts: ["cdn.store.localhost", "cdn.example.com"] }],
  };
}

describe("isMemberName()", () => {
  it.each([
    [{ pattern: "a.example.com/api/*" }, ["a.example.com"], ["b.example.com", "x.a.example.com"]],
    [{ pattern: "*.example.org/*" }, ["a.example.org", "a.b.example.org"], ["example.org"]],
    [{ pattern: "*example.org/*" }, ["example.org", "anexample.org"], ["example.com"]],
    [{ pattern: "shop.example.org", isCustomDomain: true }, ["shop.example.org"], ["example.org"]],
    [{ pattern: "*/*", zoneName: "example.org" }, ["example.org", "a.example.org"], ["other.org"]],
    [{ pattern: "*/*" }, [], ["example.org"]],
    [{ pattern: "a*b/" }, [], ["a.b"]],
  ])("for the route %j", (route, own, others) => {
    const members = [memberWith(), memberWith(route)];
    const found = [...own, ...others].filter((name) => isMemberName(members, name));
    expect(found).toEqual(own);
  });

  it("has the names of public buckets", () => {
    expect(isMemberName([memberWith()], "cdn.example.com")).toBe(true);
    expect(isMemberName([], "cdn.example.com")).toBe(false);
  });
});

it("fixedNames() are those without wildcards that do not lead here anyway", () => {
  const routes = [
    { pattern: "a.example.com/*" },
    { pattern: "a.example.com/b" },
    { pattern: "*.example.com/*" },
  ];
  const domain = { pattern: "Shop.example.com", isCustomDomain: true };
  expect(fixedNames([memberWith(...routes, domain)])).toEqual([
    "a.example.com",
    "shop.example.com",
    "cdn.example.com",
  ]);
});
