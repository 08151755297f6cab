import { describe, expect, it } from "vitest";
import {
  farOriginPage,
  loopPage,
  noRecordPage,
  notProxiedPage,
  noZonePage,
  originFaultPage,
  renderPage,
  type OriginFault,
} from "./pages.ts";

const zone = { zoneName: "example.com", records: [], names: ["app.example.com"] };
const record = { name: "*.example.com", type: "A", content: "192.0.2.1", proxied: false };

describe("renderPage()", () => {
  it("is text for programs", () => {
    expect(renderPage(noRecordPage("new.example.com", zone), false)).toEqual({
      contentType: "text/plain; charset=utf-8",
      body: `530 No record new.example.com

The zone example.com has no address record for new.example.com, and no route or public bucket has the name.

To lead the name somewhere, use one of:
  ledge dns add example.com new A 127.0.0.1 --proxied
  "routes": ["new.example.com/*"]

Names of the zone:
  app.example.com
`,
    });
  });

  it("is HTML for browsers, with what records hold as text", () => {
    const content = '"><script>alert(1)</script>&';
    const { body, contentType } = renderPage(farOriginPage("a.b", { ...record, content }), true);
    expect(contentType).toBe("text/html; charset=utf-8");
    expect(body).not.toContain("<script");
    expect(body).toContain("&quot;>&lt;script>alert(1)&lt;/script>&amp;");
    expect(body).toContain("<h1>The origin of a.b is not on this machine</h1>");
  });
});

it("pages name what helps", () => {
  expect(noZonePage("a.b.example.com").hints[0]).toBe("ledge dns zones --create example.com");
  expect(noRecordPage("example.com", zone).hints[0]).toContain("ledge dns add example.com @ A ");
  expect(notProxiedPage("x.example.com", record, zone).hints).toEqual([
    "ledge dns set example.com '*' A 192.0.2.1 --proxied",
  ]);
});

it.each<[OriginFault, number]>([
  ["reset", 520],
  ["refused", 521],
  ["timeout", 522],
  ["unreachable", 523],
  ["silent", 524],
  ["handshake", 525],
  ["certificate", 526],
  ["unresolved", 530],
])("originFaultPage() of %s has the status of the platform, %i", (fault, status) => {
  const page = originFaultPage(fault, { host: "a.example.com", record, address: "127.0.0.1:80" });
  expect(page.status).toBe(status);
  expect(page.text).toContain("127.0.0.1:80");
});

it("loopPage() has the status of loops", () => {
  expect(loopPage("a.example.com").status).toBe(508);
});
