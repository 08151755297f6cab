/** What the service does beyond the RFCs: proxied names, HTTPS records, flattening, changes. */
import { describe, expect, test } from "vitest";
import { ask, readRecords, serve, zoneData } from "../../../test/dns/support/served.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { answer, isExternalNeeded } from "./answer.ts";
import { ExternalAddressCache } from "./external-addresses.ts";
import { explainRule } from "./explanation.ts";
import { ServedZones } from "./served-zones.ts";

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

  test("has an HTTPS record of the HTTP versions that are on", () => {
    const hints = 'ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';
    expect(ofVersions(true, false)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h2" ${hints}`);
    expect(ofVersions(false, true)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h3" ${hints}`);
    expect(ofVersions(false, false)).toBe(soaLine);
  });

  test("is not hidden in a zone that is paused, or for DNS only", () => {
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

describe("flattening", () => {
  const text = `
    @      600 CNAME host.example.net.
    @      600 MX    10 mail
    flat   600 CNAME target ; cf_tags=cf-flatten-cname:true
    out    1   CNAME far.example.com. ; cf_tags=cf-flatten-cname:true
    hop    600 CNAME far.example.com.
    via    600 CNAME hop ; cf_tags=cf-flatten-cname:true
    target 120 A     192.0.2.1
    target 120 A     192.0.2.2
    plain  600 CNAME target
    gone   600 CNAME nothing ; cf_tags=cf-flatten-cname:true
    one    600 CNAME two ; cf_tags=cf-flatten-cname:true
    two    600 CNAME one ; cf_tags=cf-flatten-cname:true
    back   600 CNAME example.org.
    sub    600 NS    ns.example.com.
    below  600 CNAME www.sub ; cf_tags=cf-flatten-cname:true
    prox   600 CNAME shown ; cf_tags=cf-flatten-cname:true
    shown  1   A     192.0.2.9 ; cf_tags=cf-proxied:true
    *.any  600 CNAME target ; cf_tags=cf-flatten-cname:true
  `;
  const texts = { "example.org": text, "example.net": "host 300 A 192.0.2.4" };
  const zones = serve(texts);

  test.each([
    ["example.org A", ["NOERROR aa", "answer example.org 300 A 192.0.2.4"]],
    ["example.org AAAA", ["NOERROR aa", soaLine]],
    ["example.org CNAME", ["NOERROR aa", soaLine]],
    ["example.org MX", ["NOERROR aa", "answer example.org 600 MX 10 mail.example.org."]],
    [
      "flat.example.org A",
      [
        "NOERROR aa",
        "answer flat.example.org 120 A 192.0.2.1",
        "answer flat.example.org 120 A 192.0.2.2",
      ],
    ],
    ["flat.example.org TXT", ["NOERROR aa", soaLine]],
    ["flat.example.org CNAME", ["NOERROR aa", soaLine]],
    ["gone.example.org A", ["NOERROR aa", soaLine]],
    ["one.example.org A", ["SERVFAIL"]],
    [
      "back.example.org A",
      [
        "NOERROR aa",
        "answer back.example.org 600 CNAME example.org.",
        "answer example.org 300 A 192.0.2.4",
      ],
    ],
    ["prox.example.org A", ["NOERROR aa", "answer prox.example.org 300 A 198.18.0.1"]],
    [
      "X.any.example.org A",
      [
        "NOERROR aa",
        "answer X.any.example.org 120 A 192.0.2.1",
        "answer X.any.example.org 120 A 192.0.2.2",
      ],
    ],
    ["out.example.org A", ["needs far.example.com A"]],
    ["out.example.org AAAA", ["needs far.example.com AAAA"]],
    ["via.example.org A", ["needs far.example.com A"]],
    ["below.example.org A", ["needs www.sub.example.org A"]],
    [
      "plain.example.org AAAA",
      ["NOERROR aa", "answer plain.example.org 600 CNAME target.example.org.", soaLine],
    ],
  ])("%s", (question, lines) => {
    expect(ask(zones, question)).toEqual(lines);
  });

  test("of all CNAMEs of a zone is a setting", () => {
    expect(ask(serve(texts, { flattenAll: true }), "plain.example.org A")).toEqual([
      "NOERROR aa",
      "answer plain.example.org 120 A 192.0.2.1",
      "answer plain.example.org 120 A 192.0.2.2",
    ]);
  });

  test("uses what a resolver said for as long as its TTL, and no longer", () => {
    const outside = new ExternalAddressCache();
    const question = { name: "Far.example.com", type: "A" } as const;
    outside.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 60 }, 1000);
    const at = (nowSeconds: number, name: string) => ask(zones, name, { outside, nowSeconds });
    expect(at(1000, "out.example.org A")[1]).toBe("answer out.example.org 60 A 192.0.2.7");
    expect(at(1059, "via.example.org A")[1]).toBe("answer via.example.org 1 A 192.0.2.7");
    expect(at(1060, "out.example.org A")).toEqual(["needs far.example.com A"]);
    outside.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 86_400 }, 2000);
    expect(at(2000, "out.example.org A")[1]).toBe("answer out.example.org 300 A 192.0.2.7");
    outside.put(question, { addresses: [], ttlSeconds: 60 }, 3000);
    expect(at(3000, "out.example.org A")).toEqual(["NOERROR aa", soaLine]);
  });

  test("fails when the resolver did, and asks again soon", () => {
    const outside = new ExternalAddressCache();
    outside.put({ name: "far.example.com", type: "A" }, "failed", 1000);
    const at = (nowSeconds: number) => ask(zones, "out.example.org A", { outside, nowSeconds });
    expect(at(1004)).toEqual(["SERVFAIL"]);
    expect(at(1005)).toEqual(["needs far.example.com A"]);
  });

  test("remembers a bounded number of names", () => {
    const outside = new ExternalAddressCache();
    const put = (name: string) =>
      outside.put({ name, type: "A" }, { addresses: ["192.0.2.1"], ttlSeconds: 60 }, 0);
    for (let count = 0; count <= 10_000; count++) put(`n${count}.example.com`);
    expect(outside.get({ name: "n0.example.com", type: "A" }, 1)).toBeUndefined();
    expect(outside.get({ name: "n1.example.com", type: "A" }, 1)).toBeDefined();
  });
});

describe("ServedZones", () => {
  const records = readRecords("example.org", "a.b 300 A 192.0.2.1\nwww 300 A 192.0.2.2");

  test("serves a change at once, and forgets names that nothing holds any more", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    zones.put(zoneData("example.org", records));
    const [deep] = records;
    expect(ask(zones, "b.example.org A")).toEqual(["NOERROR aa", soaLine]);
    expect(zones.apply("example.org", { serial: 8, removed: [deep!], added: [] })).toBe(true);
    expect(ask(zones, "b.example.org A")).toEqual(["NXDOMAIN aa", soaLine]);
    zones.apply("example.org", {
      serial: 9,
      removed: [],
      added: [{ ...deep!, content: "192.0.2.9" }],
    });
    expect(ask(zones, "a.b.example.org A")[1]).toBe("answer a.b.example.org 300 A 192.0.2.9");
    expect(zones.get("example.org")!.serial).toBe(9);
    expect([...zones.get("example.org")!.nodes()]).toHaveLength(4);
  });

  test("takes new settings", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    const data = zoneData("example.org", records);
    zones.put(data);
    expect(ask(zones, "example.org NS")[1]).toBe("answer example.org 86400 NS ns1.ledge.local.");
    const { soa } = data.settings;
    const settings = { ...data.settings, ns_ttl: 60, soa: { ...soa, ttl: 900 } };
    const head = { ...data, settings, nameServers: ["ns.example.org"] };
    zones.apply("example.org", { serial: 8, removed: [], added: [], head });
    expect(ask(zones, "example.org NS")).toEqual([
      "NOERROR aa",
      "answer example.org 60 NS ns.example.org.",
    ]);
    // RFC 2308 section 3: the less of the SOA's TTL and its last field.
    expect(ask(zones, "x.example.org A")[1]).toBe("authority example.org 900 SOA");
  });

  test("knows a zone by its id, and a name by the zone that has it now", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    expect(zones.apply("none", { serial: 1, removed: [], added: [] })).toBe(false);
    zones.put(zoneData("example.org", records));
    zones.put({ ...zoneData("example.org", []), id: "again" });
    zones.remove("example.org");
    expect(ask(zones, "www.example.org A")).toEqual(["NXDOMAIN aa", soaLine]);
    zones.remove("again");
    expect(ask(zones, "www.example.org A")).toEqual(["REFUSED"]);
    expect([...zones.all()]).toEqual([]);
  });
});

test("explainRule() says by which rules an answer came about", () => {
  const text =
    "*.w 300 CNAME flat\nflat 300 CNAME www ; cf_tags=cf-flatten-cname:true\nwww 300 A 192.0.2.1";
  const zones = serve({ "example.org": text });
  const made = answer(
    { name: encodeName("a.w.example.org"), type: typeCodes.A, class: 1 },
    { zones, outside: new ExternalAddressCache(), nowSeconds: 0 },
  );
  if (isExternalNeeded(made)) throw new Error("nothing is outside");
  expect(made.rules.map(explainRule)).toEqual([
    "the zone is example.org",
    "no such name exists, and *.w.example.org covers it",
    "a.w.example.org is a CNAME, and the answer goes on at its target",
    "the CNAME of flat.example.org is flattened: its target's addresses stand for it",
    "www.example.org has such records",
  ]);
});
