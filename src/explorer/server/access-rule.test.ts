import { describe, expect, it } from "vitest";
import { accessCookie, decideAccess, type AccessHead } from "./access-rule.ts";

const token = "0123456789abcdef0123456789abcdef";
const port = 8790;
/** A request of the page itself. */
const own: AccessHead = {
  method: "GET",
  host: "localhost:8790",
  origin: null,
  fetchSite: "same-origin",
  isNavigation: false,
  cookie: `other=1; ledge-explorer-8790=${token}`,
  linkToken: null,
};

function decide(change: Partial<AccessHead>): string {
  const access = decideAccess({ ...own, ...change }, token, port);
  return access.access === "refused" ? String(access.status) : access.access;
}

describe("decideAccess()", () => {
  it.each<[string, Partial<AccessHead>, string]>([
    ["the page itself", {}, "granted"],
    ["a write of the page", { method: "POST", origin: "http://localhost:8790" }, "granted"],
    ["another loopback name", { host: "127.0.0.1:8790" }, "granted"],
    ["a reload, a bookmark", { fetchSite: "none", isNavigation: true }, "granted"],
    ["a program with the cookie", { fetchSite: null }, "granted"],
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
    ["the cookie of another port", { cookie: `ledge-explorer-8791=${token}` }, "401"],
    ["a wrong cookie", { cookie: "ledge-explorer-8790=0" }, "401"],
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
    const access = decideAccess({ ...own, cookie: null }, token, port);
    expect(access).toMatchObject({ message: expect.stringContaining("Open the link") });
  });
});

describe("accessCookie()", () => {
  it("is for this port, for no script, and for no other site", () => {
    expect(accessCookie(token, port)).toBe(
      `ledge-explorer-8790=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
    );
  });
});
