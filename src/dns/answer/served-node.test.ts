import { describe, expect, test } from "vitest";
import { ask, serve, zoneData } from "../../../test/dns/support/served.ts";

const soaLine = "authority example.org 1800 SOA";
const https = '1 . alpn="h3,h2" ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';

describe("a proxied name", () => {
  const text = `
    www    1    A     192.0.2.1   ; cf_tags=cf-proxied:true
    www    3600 A     192.0.2.2
    www    600  TXT   "seen"
    alias  1    CNAME host.example.net. ; cf_tags=cf-proxied:true
    own    1    A     192.0.2.1   ; cf_tags=cf-proxied:true
    own    600  HTTPS 1 . port="8443"
    four   1    A     192.0.2.1   ; cf_tags=cf-proxied:true,cf-ipv4-only:true
    six    1    AAAA  2001:db8::1 ; cf_tags=cf-proxied:true,cf-ipv6-only:true
    *.wild 1    A     192.0.2.1   ; cf_tags=cf-proxied:true
    plain  600  A     192.0.2.3
    to     600  CNAME www
  `;
  const zones = serve({ "example.org": text });
  const ofVersions = (http2: boolean, http3: boolean) =>
    ask(serve({ "example.org": text }, { http2, http3 }), "www.example.org HTTPS")[1];

  test.each([
    ["www.example.org A", ["NOERROR aa", "answer www.example.org 300 A 198.18.0.1"]],
    ["www.example.org AAAA", ["NOERROR aa", "answer www.example.org 300 AAAA 2001:2::1"]],
    ["www.example.org HTTPS", ["NOERROR aa", `answer www.example.org 300 HTTPS ${https}`]],
    ["www.example.org TXT", ["NOERROR aa", 'answer www.example.org 600 TXT "seen"']],
    ["www.example.org MX", ["NOERROR aa", soaLine]],
    ["alias.example.org A", ["NOERROR aa", "answer alias.example.org 300 A 198.18.0.1"]],
    ["alias.example.org CNAME", ["NOERROR aa", soaLine]],
    ["alias.example.org TXT", ["NOERROR aa", soaLine]],
    ["own.example.org HTTPS", ["NOERROR aa", 'answer own.example.org 600 HTTPS 1 . port="8443"']],
    ["four.example.org AAAA", ["NOERROR aa", soaLine]],
    [
      "four.example.org HTTPS",
      ["NOERROR aa", 'answer four.example.org 300 HTTPS 1 . alpn="h3,h2" ipv4hint="198.18.0.1"'],
    ],
    ["six.example.org A", ["NOERROR aa", soaLine]],
    ["six.example.org AAAA", ["NOERROR aa", "answer six.example.org 300 AAAA 2001:2::1"]],
    ["x.wild.example.org A", ["NOERROR aa", "answer x.wild.example.org 300 A 198.18.0.1"]],
    ["x.wild.example.org HTTPS", ["NOERROR aa", `answer x.wild.example.org 300 HTTPS ${https}`]],
    ["plain.example.org HTTPS", ["NOERROR aa", soaLine]],
    [
      "to.example.org A",
      [
        "NOERROR aa",
        "answer to.example.org 600 CNAME www.example.org.",
        "answer www.example.org 300 A 198.18.0.1",
      ],
    ],
  ])("%s", (question, lines) => {
    expect(ask(zones, question)).toEqual(lines);
  });

  test("has an HTTPS record with the enabled versions of HTTP", () => {
    const hints = 'ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';
    expect(ofVersions(true, false)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h2" ${hints}`);
    expect(ofVersions(false, true)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h3" ${hints}`);
    expect(ofVersions(false, false)).toBe(soaLine);
  });

  test("is answered with its own records in a paused zone, and in a zone with DNS only", () => {
    const settings = { ...zoneData("example.org", []).settings, zone_mode: "dns_only" };
    for (const change of [{ paused: true }, { settings }]) {
      expect(ask(serve({ "example.org": text }, change), "www.example.org A")).toEqual([
        "NOERROR aa",
        "answer www.example.org 300 A 192.0.2.1",
        "answer www.example.org 300 A 192.0.2.2",
      ]);
    }
  });
});
