import { describe, expect, test } from "vitest";
import { parseRoute } from "./route-pattern.ts";

describe("parseRoute() refuses", () => {
  test.each([
    ["", "has no valid host"],
    ["/path", "has no valid host"],
    ["https:///path", "has no valid host"],
    ["example.com/?foo=*", "has a query"],
    ["example.com?foo", "has a query"],
    ["example.com/#top", "has a query or a fragment"],
    ["example.com/*.jpg", "has * in the middle"],
    ["www.*.com/*", "has * in the middle"],
    ["example.*/*", "has * in the middle"],
    ["example.com*", "has * in the middle"],
    ["**example.com/*", "has * in the middle"],
    ["ftp://example.com/*", 'has the scheme "ftp"'],
    ["*://example.com/*", 'has the scheme "*"'],
    ["example.com:8080/*", "has a port"],
    ["user@example.com/*", "has no valid host"],
    ["a..example.com/*", "has no valid host"],
    ["*..example.com/*", "has no valid host"],
    ["127.0.0.1/*", "has no valid host"],
    ["[::1]/*", "has no valid host"],
    [`${"a".repeat(64)}.example.com/*`, "has no valid host"],
  ])("%j, which %s", (pattern, problem) => {
    expect(parseRoute({ pattern, isCustomDomain: false })).toContain(problem);
  });

  test.each(["https://example.com", "example.com/", "*.example.com"])(
    "the custom domain %j",
    (pattern) => {
      expect(parseRoute({ pattern, isCustomDomain: true })).toContain("is a custom domain");
    },
  );

  test("a pattern outside of its zone", () => {
    const outside = { pattern: "*.example.com/*", isCustomDomain: false, zoneName: "example.org" };
    expect(parseRoute(outside)).toBe("is not in the zone example.org of its zone_name");
  });
});
