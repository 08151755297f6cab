/** Cases in presentation format, by RFC. A row is a question and the lines of its answer. */
import { describe, expect, test } from "vitest";
import { ask, readRows, serve, zoneData } from "../../../test/dns/support/served.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { answer, explainRule } from "./answer.ts";
import { ExternalAddressCache } from "./external-addresses.ts";

const soa = "authority example.org 1800 SOA";

function cases(title: string, texts: string | Record<string, string>, table: string): void {
  const zones = serve(typeof texts === "string" ? { "example.org": texts } : texts);
  describe(`answer(): ${title}`, () => {
    test.each(readRows(table))("%s", (question, lines) => {
      expect(ask(zones, question)).toEqual(lines);
    });
  });
}

/** The referral of the delegation "sub" below. */
const referral = `
    | authority sub.example.org 3600 NS ns1.sub.example.org.
    | authority sub.example.org 3600 NS ns.other.example.org.
    | authority sub.example.org 3600 NS ns.plain.example.org.
    | authority sub.example.org 3600 NS ns.example.net.
    | glue ns1.sub.example.org 3600 A 192.0.2.1
    | glue ns1.sub.example.org 3600 AAAA 2001:db8::1
    | additional ns.other.example.org 3600 A 192.0.2.2`;

cases(
  "RFC 1034: names that exist, aliases",
  `
  @      300 MX    10 mail
  @      300 TXT   "v=spf1 -all"
  www    300 A     192.0.2.1
  www    300 A     192.0.2.2
  www    120 A     192.0.2.3
  www    1   AAAA  2001:db8::1
  ftp    600 CNAME www
  deep   600 CNAME ftp
  gone   600 CNAME nowhere
  away   600 CNAME host.example.net.
  ring   600 CNAME rang
  rang   600 CNAME ring
  odd    600 CNAME www
  odd    600 TXT   "beside a CNAME"
  `,
  `
  www.example.org AAAA | NOERROR aa | answer www.example.org 300 AAAA 2001:db8::1
  ; RFC 2181 section 5.2: the set has one TTL, the least.
  WWW.Example.ORG A | NOERROR aa
    | answer www.example.org 120 A 192.0.2.1
    | answer www.example.org 120 A 192.0.2.2
    | answer www.example.org 120 A 192.0.2.3
  example.org MX | NOERROR aa | answer example.org 300 MX 10 mail.example.org.
  ftp.example.org CNAME | NOERROR aa | answer ftp.example.org 600 CNAME www.example.org.
  deep.example.org AAAA | NOERROR aa
    | answer deep.example.org 600 CNAME ftp.example.org.
    | answer ftp.example.org 600 CNAME www.example.org.
    | answer www.example.org 300 AAAA 2001:db8::1
  ftp.example.org TXT | NOERROR aa | answer ftp.example.org 600 CNAME www.example.org. | ${soa}
  ; RFC 6604: the RCODE is that of the last name.
  gone.example.org A | NXDOMAIN aa | answer gone.example.org 600 CNAME nowhere.example.org. | ${soa}
  away.example.org A | NOERROR aa | answer away.example.org 600 CNAME host.example.net.
  ring.example.org A | SERVFAIL aa
    | answer ring.example.org 600 CNAME rang.example.org.
    | answer rang.example.org 600 CNAME ring.example.org.
  odd.example.org TXT | NOERROR aa | answer odd.example.org 600 TXT "beside a CNAME"
  odd.example.org MX | NOERROR aa | ${soa}
  example.net A | REFUSED
  . NS | REFUSED
  org SOA | REFUSED
  xexample.org A | REFUSED
  `,
);

cases(
  "RFC 1034: the SOA and NS records that a zone has without records",
  "ns 300 A 192.0.2.9\n@ 600 NS ns",
  `
  example.org SOA | NOERROR aa | answer example.org 3600 SOA
  example.org NS | NOERROR aa
    | answer example.org 600 NS ns1.ledge.local.
    | answer example.org 600 NS ns2.ledge.local.
    | answer example.org 600 NS ns.example.org.
  example.org A | NOERROR aa | ${soa}
  example.org DS | NOERROR aa | ${soa}
  ns.example.org SOA | NOERROR aa | ${soa}
  `,
);

cases(
  "RFC 2308: names and types that do not exist",
  "a.b.c 300 A 192.0.2.1",
  String.raw`
  x.example.org A | NXDOMAIN aa | ${soa}
  a.b.c.example.org AAAA | NOERROR aa | ${soa}
  b.c.example.org A | NOERROR aa | ${soa}
  c.example.org A | NOERROR aa | ${soa}
  x.b.c.example.org A | NXDOMAIN aa | ${soa}
  x.a.b.c.example.org A | NXDOMAIN aa | ${soa}
  c.example.org ANY | NOERROR aa | ${soa}
  a\.b.c.example.org A | NXDOMAIN aa | ${soa}
  b.c.example.org TYPE65280 | NOERROR aa | ${soa}
  `,
);

// The zone of RFC 4592 section 2.2.1 and its answers, without sub.*, which the API refuses.
cases(
  "RFC 4592: wildcards",
  `
  *                  3600 TXT   "this is a wildcard"
  *                  3600 MX    10 host1
  host1              3600 A     192.0.2.1
  _ssh._tcp.host1    3600 SRV   0 0 22 host1
  _ssh._tcp.host2    3600 SRV   0 0 22 host2
  subdel             3600 NS    ns.example.com.
  subdel             3600 NS    ns.example.net.
  *.alias            600  CNAME host1
  *.void.deep        600  A     192.0.2.7
  `,
  `
  host3.example.org MX | NOERROR aa | answer host3.example.org 3600 MX 10 host1.example.org.
  host3.example.org A | NOERROR aa | ${soa}
  foo.bar.example.org TXT | NOERROR aa | answer foo.bar.example.org 3600 TXT "this is a wildcard"
  host1.example.org MX | NOERROR aa | ${soa}
  _telnet._tcp.host1.example.org SRV | NXDOMAIN aa | ${soa}
  host.subdel.example.org A | NOERROR
    | authority subdel.example.org 3600 NS ns.example.com.
    | authority subdel.example.org 3600 NS ns.example.net.
  ghost.*.example.org MX | NXDOMAIN aa | ${soa}
  *.example.org TXT | NOERROR aa | answer *.example.org 3600 TXT "this is a wildcard"
  host2.example.org TXT | NOERROR aa | ${soa}
  Some.Alias.example.org A | NOERROR aa
    | answer Some.Alias.example.org 600 CNAME host1.example.org.
    | answer host1.example.org 3600 A 192.0.2.1
  alias.example.org A | NOERROR aa | ${soa}
  a.b.void.deep.example.org A | NOERROR aa | answer a.b.void.deep.example.org 600 A 192.0.2.7
  other.deep.example.org A | NXDOMAIN aa | ${soa}
  x.example.org ANY | NOERROR aa | answer x.example.org 3600 HINFO "RFC8482" ""
  `,
);

cases(
  "RFC 1034, 9471: delegations and glue",
  `
  sub          3600 NS   ns1.sub
  sub          3600 NS   ns.other
  sub          3600 NS   ns.plain
  sub          3600 NS   ns.example.net.
  sub          3600 DS   12345 8 2 ${"ab".repeat(32)}
  ns1.sub      3600 A    192.0.2.1
  ns1.sub      3600 AAAA 2001:db8::1
  other        3600 NS   ns.other
  ns.other     3600 A    192.0.2.2
  ns.plain     3600 A    192.0.2.3
  under.sub    3600 NS   ns.example.net.
  www.sub      3600 A    192.0.2.4
  into         600  CNAME www.sub
  `,
  `
  sub.example.org A | NOERROR ${referral}
  www.sub.example.org A | NOERROR ${referral}
  x.under.sub.example.org DS | NOERROR ${referral}
  sub.example.org DS | NOERROR aa | answer sub.example.org 3600 DS 12345 8 2 ${"ab".repeat(32)}
  other.example.org DS | NOERROR aa | ${soa}
  other.example.org ANY | NOERROR
    | authority other.example.org 3600 NS ns.other.example.org.
    | glue ns.other.example.org 3600 A 192.0.2.2
  into.example.org A | NOERROR aa
    | answer into.example.org 600 CNAME www.sub.example.org. ${referral}
  `,
);

cases(
  "RFC 4035: several zones of one server",
  {
    "example.org": `
      sub     3600 NS ns.sub
      sub     3600 DS 1 8 2 ${"cd".repeat(32)}
      ns.sub  3600 A  192.0.2.1
      alias   600  CNAME www.sub
      other   600  CNAME host.example.net.
      lost    600  CNAME lost.example.net.
    `,
    "sub.example.org": "www 300 A 192.0.2.2",
    "bare.example.org": "www 300 A 192.0.2.3",
    "example.net": "host 300 A 192.0.2.4",
  },
  `
  www.sub.example.org A | NOERROR aa | answer www.sub.example.org 300 A 192.0.2.2
  sub.example.org DS | NOERROR aa | answer sub.example.org 3600 DS 1 8 2 ${"cd".repeat(32)}
  bare.example.org DS | NOERROR aa | authority bare.example.org 1800 SOA
  alias.example.org A | NOERROR aa
    | answer alias.example.org 600 CNAME www.sub.example.org.
    | answer www.sub.example.org 300 A 192.0.2.2
  other.example.org A | NOERROR aa
    | answer other.example.org 600 CNAME host.example.net.
    | answer host.example.net 300 A 192.0.2.4
  lost.example.org A | NXDOMAIN aa
    | answer lost.example.org 600 CNAME lost.example.net.
    | authority example.net 1800 SOA
  `,
);

cases(
  "RFC 8482: ANY",
  "www 300 A 192.0.2.1\nftp 300 CNAME www",
  `
  www.example.org ANY | NOERROR aa | answer www.example.org 3600 HINFO "RFC8482" ""
  ftp.example.org ANY | NOERROR aa | answer ftp.example.org 3600 HINFO "RFC8482" ""
  x.example.org ANY | NXDOMAIN aa | ${soa}
  `,
);

const flattenedZones = {
  "example.org": `
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
    mixed  600 CNAME target
    mixed  600 TXT   "beside the CNAME"
  `,
  "example.net": "host 300 A 192.0.2.4",
};

cases(
  "flattening",
  flattenedZones,
  `
  example.org A | NOERROR aa | answer example.org 300 A 192.0.2.4
  example.org AAAA | NOERROR aa | ${soa}
  example.org CNAME | NOERROR aa | ${soa}
  example.org MX | NOERROR aa | answer example.org 600 MX 10 mail.example.org.
  flat.example.org A | NOERROR aa
    | answer flat.example.org 120 A 192.0.2.1
    | answer flat.example.org 120 A 192.0.2.2
  flat.example.org TXT | NOERROR aa | ${soa}
  flat.example.org CNAME | NOERROR aa | ${soa}
  gone.example.org A | NOERROR aa | ${soa}
  mixed.example.org A | NOERROR aa
    | answer mixed.example.org 120 A 192.0.2.1
    | answer mixed.example.org 120 A 192.0.2.2
  mixed.example.org CNAME | NOERROR aa | ${soa}
  mixed.example.org MX | NOERROR aa | ${soa}
  mixed.example.org TXT | NOERROR aa | answer mixed.example.org 600 TXT "beside the CNAME"
  one.example.org A | SERVFAIL
  back.example.org A | NOERROR aa
    | answer back.example.org 600 CNAME example.org.
    | answer example.org 300 A 192.0.2.4
  prox.example.org A | NOERROR aa | answer prox.example.org 300 A 198.18.0.1
  X.any.example.org A | NOERROR aa
    | answer X.any.example.org 120 A 192.0.2.1
    | answer X.any.example.org 120 A 192.0.2.2
  out.example.org A | needs far.example.com A
  out.example.org AAAA | needs far.example.com AAAA
  via.example.org A | needs far.example.com A
  below.example.org A | needs www.sub.example.org A
  plain.example.org AAAA | NOERROR aa
    | answer plain.example.org 600 CNAME target.example.org.
    | ${soa}
`,
);

describe("flattening", () => {
  const zones = serve(flattenedZones);

  test("applies to all CNAMEs of a zone by a setting", () => {
    expect(ask(serve(flattenedZones, { flattenAll: true }), "plain.example.org A")).toEqual([
      "NOERROR aa",
      "answer plain.example.org 120 A 192.0.2.1",
      "answer plain.example.org 120 A 192.0.2.2",
    ]);
  });

  test("uses external addresses until their TTL ends", () => {
    const external = new ExternalAddressCache();
    const question = { name: "Far.example.com", type: "A" } as const;
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 60 }, 1000);
    const at = (nowSeconds: number, name: string) => ask(zones, name, { external, nowSeconds });
    expect(at(1000, "out.example.org A")[1]).toBe("answer out.example.org 60 A 192.0.2.7");
    expect(at(1059, "via.example.org A")[1]).toBe("answer via.example.org 1 A 192.0.2.7");
    expect(at(1060, "out.example.org A")).toEqual(["needs far.example.com A"]);
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 86_400 }, 2000);
    expect(at(2000, "out.example.org A")[1]).toBe("answer out.example.org 300 A 192.0.2.7");
    external.put(question, { addresses: [], ttlSeconds: 60 }, 3000);
    expect(at(3000, "out.example.org A")).toEqual(["NOERROR aa", soa]);
  });

  test("fails after a failed resolution, and resolves again soon", () => {
    const external = new ExternalAddressCache();
    external.put({ name: "far.example.com", type: "A" }, "failed", 1000);
    const at = (nowSeconds: number) => ask(zones, "out.example.org A", { external, nowSeconds });
    expect(at(1004)).toEqual(["SERVFAIL"]);
    expect(at(1005)).toEqual(["needs far.example.com A"]);
  });

  test("keeps a bounded number of external names", () => {
    const external = new ExternalAddressCache();
    const put = (name: string) =>
      external.put({ name, type: "A" }, { addresses: ["192.0.2.1"], ttlSeconds: 60 }, 0);
    for (let count = 0; count <= 10_000; count++) put(`n${count}.example.com`);
    expect(external.get({ name: "n0.example.com", type: "A" }, 1)).toBeUndefined();
    expect(external.get({ name: "n1.example.com", type: "A" }, 1)).toBeDefined();
  });
});

const https = '1 . alpn="h3,h2" ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';
const proxiedText = `
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

cases(
  "a proxied name",
  proxiedText,
  `
  www.example.org A | NOERROR aa | answer www.example.org 300 A 198.18.0.1
  www.example.org AAAA | NOERROR aa | answer www.example.org 300 AAAA 2001:2::1
  www.example.org HTTPS | NOERROR aa | answer www.example.org 300 HTTPS ${https}
  www.example.org TXT | NOERROR aa | answer www.example.org 600 TXT "seen"
  www.example.org MX | NOERROR aa | ${soa}
  alias.example.org A | NOERROR aa | answer alias.example.org 300 A 198.18.0.1
  alias.example.org CNAME | NOERROR aa | ${soa}
  alias.example.org TXT | NOERROR aa | ${soa}
  own.example.org HTTPS | NOERROR aa | answer own.example.org 600 HTTPS 1 . port="8443"
  four.example.org AAAA | NOERROR aa | ${soa}
  four.example.org HTTPS | NOERROR aa
    | answer four.example.org 300 HTTPS 1 . alpn="h3,h2" ipv4hint="198.18.0.1"
  six.example.org A | NOERROR aa | ${soa}
  six.example.org AAAA | NOERROR aa | answer six.example.org 300 AAAA 2001:2::1
  x.wild.example.org A | NOERROR aa | answer x.wild.example.org 300 A 198.18.0.1
  x.wild.example.org HTTPS | NOERROR aa | answer x.wild.example.org 300 HTTPS ${https}
  plain.example.org HTTPS | NOERROR aa | ${soa}
  to.example.org A | NOERROR aa
    | answer to.example.org 600 CNAME www.example.org.
    | answer www.example.org 300 A 198.18.0.1
`,
);

const ofVersions = (http2: boolean, http3: boolean) =>
  ask(serve({ "example.org": proxiedText }, { http2, http3 }), "www.example.org HTTPS")[1];

describe("a proxied name", () => {
  test("has an HTTPS record with the enabled versions of HTTP", () => {
    const hints = 'ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';
    expect(ofVersions(true, false)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h2" ${hints}`);
    expect(ofVersions(false, true)).toBe(`answer www.example.org 300 HTTPS 1 . alpn="h3" ${hints}`);
    expect(ofVersions(false, false)).toBe(soa);
  });

  test("is answered with its own records in a paused zone, and in a zone with DNS only", () => {
    const settings = { ...zoneData("example.org", []).settings, zone_mode: "dns_only" };
    for (const change of [{ paused: true }, { settings }]) {
      expect(ask(serve({ "example.org": proxiedText }, change), "www.example.org A")).toEqual([
        "NOERROR aa",
        "answer www.example.org 300 A 192.0.2.1",
        "answer www.example.org 300 A 192.0.2.2",
      ]);
    }
  });
});

test("RFC 1035: a class other than IN is refused", () => {
  const zones = serve({ "example.org": "www 300 A 192.0.2.1" });
  for (const other of [3, 4, 254, 255]) {
    expect(ask(zones, "www.example.org A", { class: other })).toEqual(["REFUSED"]);
  }
});

test("RFC 1034: answer() follows a chain of sixteen CNAMEs, and does not flatten a longer one", () => {
  const links = Array.from({ length: 20 }, (_, index) => `c${index} 300 CNAME c${index + 1}`);
  const text = [...links, "c20 300 A 192.0.2.1", "@ 300 CNAME c0"].join("\n");
  const zones = serve({ "example.org": text });
  const [status, ...lines] = ask(zones, "c0.example.org A");
  expect(status).toBe("NOERROR aa");
  expect(lines).toHaveLength(16);
  expect(ask(zones, "c5.example.org A").at(-1)).toBe("answer c20.example.org 300 A 192.0.2.1");
  expect(ask(zones, "example.org A")).toEqual(["SERVFAIL"]);
});

test("explainRule() has a sentence for each rule that an answer applied", () => {
  const text =
    "*.w 300 CNAME flat\nflat 300 CNAME www ; cf_tags=cf-flatten-cname:true\nwww 300 A 192.0.2.1";
  const zones = serve({ "example.org": text });
  const made = answer(
    { name: encodeName("a.w.example.org"), type: typeCodes.A, class: 1 },
    { zones, external: new ExternalAddressCache(), nowSeconds: 0 },
  );
  if ("kind" in made) throw new Error(`the answer needs ${made.kind}`);
  expect(made.rules.map(explainRule)).toEqual([
    "the zone is example.org",
    "the name does not exist, and the wildcard *.w.example.org covers it",
    "a.w.example.org is a CNAME: the answer continues at its target",
    "the CNAME of flat.example.org is flattened: the answer has the addresses of its target",
    "www.example.org has records of this type",
  ]);
});
