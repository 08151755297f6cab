import { describe, expect, it } from "vitest";
import { accessCookie, basePath, decideAccess, type AccessHead } from "./access-rule.ts";

const token = "0123456789abcdef0123456789abcdef";
const base = basePath(token);
/** A request of the page itself. */
const own: AccessHead = {
  method: "GET",
  path: `${base}/api/project`,
  host: "localhost:8790",
  origin: null,
  fetchSite: "same-origin",
  isNavigation: false,
  cookie: `other=1; ledge-explorer=${token}`,
  authorization: null,
  linkToken: null,
};

const program = { cookie: null, fetchSite: null, authorization: `Bearer ${token}` };

function decide(change: Partial<AccessHead>): string {
  const access = decideAccess({ ...own, ...change }, token);
  return access.access === "refused" ? String(access.status) : access.access;
}

describe("decideAccess()", () => {
  it.each<[string, Partial<AccessHead>, string]>([
    ["the page itself", {}, "granted"],
    ["a write of the page", { method: "POST", origin: "http://localhost:8790" }, "granted"],
    ["another loopback name", { host: "127.0.0.1:8790" }, "granted"],
    ["a reload, a bookmark", { fetchSite: "none", isNavigation: true }, "granted"],
    ["a program with the cookie", { fetchSite: null }, "granted"],
    ["a program with the token", { ...program, path: "/api/state" }, "granted"],
    ["a program with a wrong token", { ...program, authorization: "Bearer 0" }, "401"],
    [
      "a page of another origin with the token",
      { ...program, origin: "http://localhost:1" },
      "403",
    ],
    ["the printed link", { cookie: null, linkToken: token, fetchSite: "none" }, "link"],
    [
      "the printed link in another page",
      { cookie: null, linkToken: token, fetchSite: "cross-site", isNavigation: true },
      "link",
    ],
    ["another host", { host: "evil.example:8790" }, "403"],
    ["no host", { host: null }, "403"],
    ["another origin", { method: "POST", origin: "https://evil.example" }, "403"],
    ["another port of localhost", { method: "POST", origin: "http://localhost:3000" }, "403"],
    ["another port of localhost, a read", { fetchSite: "same-site" }, "403"],
    ["another loopback name as origin", { origin: "http://127.0.0.1:8790" }, "403"],
    ["an opaque origin", { origin: "null" }, "403"],
    ["another site, an image", { fetchSite: "cross-site" }, "403"],
    ["another site with the token, no page", { fetchSite: "cross-site", linkToken: token }, "403"],
    ["no cookie", { cookie: null }, "401"],
    ["another path", { path: "/api/project" }, "401"],
    ["the path of another token", { path: `${basePath("other")}/` }, "401"],
    ["a wrong cookie", { cookie: "ledge-explorer=0" }, "401"],
    ["a link in another local page", { fetchSite: "same-site", isNavigation: true }, "click"],
    [
      "a form of another local page",
      { method: "POST", fetchSite: "same-site", isNavigation: true },
      "403",
    ],
    ["a form of the page", { method: "POST", origin: "null", isNavigation: true }, "granted"],
    [
      "a form of an opaque origin",
      { method: "POST", origin: "null", fetchSite: "cross-site", isNavigation: true },
      "403",
    ],
    ["a wrong token in the link", { cookie: null, linkToken: "0".repeat(32) }, "401"],
    [
      "a write with the token in the link",
      { method: "POST", cookie: null, linkToken: token },
      "401",
    ],
  ])("%s", (_, change, expected) => {
    expect(decide(change)).toBe(expected);
  });

  it("says what to do", () => {
    const access = decideAccess({ ...own, cookie: null }, token);
    expect(access).toMatchObject({ message: expect.stringContaining("Open the link") });
  });
});

describe("accessCookie()", () => {
  it("is for the path of the page, for no script, and for no other site", () => {
    expect(base).toMatch(/^\/~[0-9a-f]{16}$/);
    expect(accessCookie(token)).toBe(
      `ledge-explorer=${token}; Path=${base}/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
    );
  });
});
