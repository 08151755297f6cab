import { describe, expect, it } from "vitest";
import { grantedHeaders, preflightHeaders, type CorsRule } from "./cors.ts";

const rule: CorsRule = { allowedOrigins: ["*"], allowedMethods: ["GET"] };

describe("a pattern with a wildcard", () => {
  it.each([
    ["https://*.page.test", "https://a.page.test", true],
    ["https://*.page.test", "https://.page.test", true],
    ["https://*.page.test", "https://a.page.test.other.test", false],
    ["https://*.page.test", "http://a.page.test", false],
    ["https://*", "https://a", true],
    ["*.test", "https://a.test", true],
    ["https://a", "https://a", true],
    ["https://a", "https://a.test", false],
    // The text before the wildcard and the text after it are different parts of an origin.
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*a", "aba", true],
    ["http://a*://a", "http://a", false],
    ["ab*ba", "aba", false],
  ])("%s and the origin %s: %s", (pattern, origin, isAllowed) => {
    const rules = [{ ...rule, allowedOrigins: [pattern] }];
    expect(grantedHeaders(rules, { origin, method: "GET" }) !== undefined).toBe(isAllowed);
  });

  it.each([
    ["x-*-x", "x-a-x", true],
    ["X-*-X", "x-a-x", true],
    ["x-*-x", "x-x", false],
  ])("%s and the header %s: %s", (pattern, name, isAllowed) => {
    const rules = [{ ...rule, allowedHeaders: [pattern] }];
    const asked = { origin: "https://a", method: "GET", headerNames: [name] };
    expect(preflightHeaders(rules, asked) !== null).toBe(isAllowed);
  });
});

const members = (vary: string | undefined) =>
  vary?.split(",").map((name) => name.trim().toLowerCase());

describe("Vary", () => {
  /** A cache compares these headers of two requests before it gives the response of one to the other. */
  const compared = ["access-control-request-headers", "access-control-request-method", "origin"];

  it.each(["*", "https://a"])("names all headers that decide, for the origin %s", (origin) => {
    const rules = [{ ...rule, allowedOrigins: [origin] }];
    const request = { origin: "https://a", method: "GET" };
    const granted = grantedHeaders(rules, request);
    const answered = preflightHeaders(rules, { ...request, headerNames: [] });
    expect(members(granted?.["vary"])?.toSorted()).toEqual(compared);
    expect(members(answered?.["vary"])?.toSorted()).toEqual(compared);
  });
});
