/** Cases in presentation format, by RFC. A row is a question and the lines of its answer. */
import { describe, expect, test } from "vitest";
import { ask, serve } from "../../../test/dns/support/served.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { answer, explainRule } from "./answer.ts";
import { ExternalAddressCache } from "./external-addresses.ts";

type Row = readonly [question: string, ...lines: string[]];

const soa = "authority example.org 1800 SOA";

function cases(rfc: string, texts: string | Record<string, string>, rows: readonly Row[]): void {
  const zones = serve(typeof texts === "string" ? { "example.org": texts } : texts);
  describe(`RFC ${rfc}`, () => {
    test.each(rows.map((row) => [row[0], row.slice(1)] as const))("%s", (question, lines) => {
      expect(ask(zones, question)).toEqual(lines);
    });
  });
}

cases(
  "1034: names that exist, aliases",
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
  [
    ["www.example.org AAAA", "NOERROR aa", "answer www.example.org 300 AAAA 2001:db8::1"],
    [
      // RFC 2181 section 5.2: the set has one TTL, the least.
      "WWW.Example.ORG A",
      "NOERROR aa",
      "answer www.example.org 120 A 192.0.2.1",
      "answer www.example.org 120 A 192.0.2.2",
      "answer www.example.org 120 A 192.0.2.3",
    ],
    ["example.org MX", "NOERROR aa", "answer example.org 300 MX 10 mail.example.org."],
    ["ftp.example.org CNAME", "NOERROR aa", "answer ftp.example.org 600 CNAME www.example.org."],
    [
      "deep.example.org AAAA",
      "NOERROR aa",
      "answer deep.example.org 600 CNAME ftp.example.org.",
      "answer ftp.example.org 600 CNAME www.example.org.",
      "answer www.example.org 300 AAAA 2001:db8::1",
    ],
    ["ftp.example.org TXT", "NOERROR aa", "answer ftp.example.org 600 CNAME www.example.org.", soa],
    [
      // RFC 6604: the RCODE is that of the last name.
      "gone.example.org A",
      "NXDOMAIN aa",
      "answer gone.example.org 600 CNAME nowhere.example.org.",
      soa,
    ],
    ["away.example.org A", "NOERROR aa", "answer away.example.org 600 CNAME host.example.net."],
    [
      "ring.example.org A",
      "SERVFAIL aa",
      "answer ring.example.org 600 CNAME rang.example.org.",
      "answer rang.example.org 600 CNAME ring.example.org.",
    ],
    ["odd.example.org TXT", "NOERROR aa", 'answer odd.example.org 600 TXT "beside a CNAME"'],
    ["odd.example.org MX", "NOERROR aa", soa],
    ["example.net A", "REFUSED"],
    [". NS", "REFUSED"],
    ["org SOA", "REFUSED"],
    ["xexample.org A", "REFUSED"],
  ],
);

cases(
  "1034: the SOA and NS records that a zone has without records",
  "ns 300 A 192.0.2.9\n@ 600 NS ns",
  [
    ["example.org SOA", "NOERROR aa", "answer example.org 3600 SOA"],
    [
      "example.org NS",
      "NOERROR aa",
      "answer example.org 600 NS ns1.ledge.local.",
      "answer example.org 600 NS ns2.ledge.local.",
      "answer example.org 600 NS ns.example.org.",
    ],
    ["example.org A", "NOERROR aa", soa],
    ["example.org DS", "NOERROR aa", soa],
    ["ns.example.org SOA", "NOERROR aa", soa],
  ],
);

cases("2308: names and types that do not exist", "a.b.c 300 A 192.0.2.1", [
  ["x.example.org A", "NXDOMAIN aa", soa],
  ["a.b.c.example.org AAAA", "NOERROR aa", soa],
  ["b.c.example.org A", "NOERROR aa", soa],
  ["c.example.org A", "NOERROR aa", soa],
  ["x.b.c.example.org A", "NXDOMAIN aa", soa],
  ["x.a.b.c.example.org A", "NXDOMAIN aa", soa],
  ["c.example.org ANY", "NOERROR aa", soa],
  ["a\\.b.c.example.org A", "NXDOMAIN aa", soa],
  ["b.c.example.org TYPE65280", "NOERROR aa", soa],
]);

// The zone of RFC 4592 section 2.2.1 and its answers, without sub.*, which the API refuses.
cases(
  "4592: wildcards",
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
  [
    [
      "host3.example.org MX",
      "NOERROR aa",
      "answer host3.example.org 3600 MX 10 host1.example.org.",
    ],
    ["host3.example.org A", "NOERROR aa", soa],
    [
      "foo.bar.example.org TXT",
      "NOERROR aa",
      'answer foo.bar.example.org 3600 TXT "this is a wildcard"',
    ],
    ["host1.example.org MX", "NOERROR aa", soa],
    ["_telnet._tcp.host1.example.org SRV", "NXDOMAIN aa", soa],
    [
      "host.subdel.example.org A",
      "NOERROR",
      "authority subdel.example.org 3600 NS ns.example.com.",
      "authority subdel.example.org 3600 NS ns.example.net.",
    ],
    ["ghost.*.example.org MX", "NXDOMAIN aa", soa],
    ["*.example.org TXT", "NOERROR aa", 'answer *.example.org 3600 TXT "this is a wildcard"'],
    ["host2.example.org TXT", "NOERROR aa", soa],
    [
      "Some.Alias.example.org A",
      "NOERROR aa",
      "answer Some.Alias.example.org 600 CNAME host1.example.org.",
      "answer host1.example.org 3600 A 192.0.2.1",
    ],
    ["alias.example.org A", "NOERROR aa", soa],
    [
      "a.b.void.deep.example.org A",
      "NOERROR aa",
      "answer a.b.void.deep.example.org 600 A 192.0.2.7",
    ],
    ["other.deep.example.org A", "NXDOMAIN aa", soa],
    ["x.example.org ANY", "NOERROR aa", 'answer x.example.org 3600 HINFO "RFC8482" ""'],
  ],
);

cases(
  "1034, 9471: delegations and glue",
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
  [
    ...["sub.example.org A", "www.sub.example.org A", "x.under.sub.example.org DS"].map(
      (question): Row => [
        question,
        "NOERROR",
        "authority sub.example.org 3600 NS ns1.sub.example.org.",
        "authority sub.example.org 3600 NS ns.other.example.org.",
        "authority sub.example.org 3600 NS ns.plain.example.org.",
        "authority sub.example.org 3600 NS ns.example.net.",
        "glue ns1.sub.example.org 3600 A 192.0.2.1",
        "glue ns1.sub.example.org 3600 AAAA 2001:db8::1",
        "additional ns.other.example.org 3600 A 192.0.2.2",
      ],
    ),
    [
      "sub.example.org DS",
      "NOERROR aa",
      `answer sub.example.org 3600 DS 12345 8 2 ${"ab".repeat(32)}`,
    ],
    ["other.example.org DS", "NOERROR aa", soa],
    [
      "other.example.org ANY",
      "NOERROR",
      "authority other.example.org 3600 NS ns.other.example.org.",
      "glue ns.other.example.org 3600 A 192.0.2.2",
    ],
    [
      "into.example.org A",
      "NOERROR aa",
      "answer into.example.org 600 CNAME www.sub.example.org.",
      "authority sub.example.org 3600 NS ns1.sub.example.org.",
      "authority sub.example.org 3600 NS ns.other.example.org.",
      "authority sub.example.org 3600 NS ns.plain.example.org.",
      "authority sub.example.org 3600 NS ns.example.net.",
      "glue ns1.sub.example.org 3600 A 192.0.2.1",
      "glue ns1.sub.example.org 3600 AAAA 2001:db8::1",
      "additional ns.other.example.org 3600 A 192.0.2.2",
    ],
  ],
);

cases(
  "4035: several zones of one server",
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
  [
    ["www.sub.example.org A", "NOERROR aa", "answer www.sub.example.org 300 A 192.0.2.2"],
    ["sub.example.org DS", "NOERROR aa", `answer sub.example.org 3600 DS 1 8 2 ${"cd".repeat(32)}`],
    ["bare.example.org DS", "NOERROR aa", "authority bare.example.org 1800 SOA"],
    [
      "alias.example.org A",
      "NOERROR aa",
      "answer alias.example.org 600 CNAME www.sub.example.org.",
      "answer www.sub.example.org 300 A 192.0.2.2",
    ],
    [
      "other.example.org A",
      "NOERROR aa",
      "answer other.example.org 600 CNAME host.example.net.",
      "answer host.example.net 300 A 192.0.2.4",
    ],
    [
      "lost.example.org A",
      "NXDOMAIN aa",
      "answer lost.example.org 600 CNAME lost.example.net.",
      "authority example.net 1800 SOA",
    ],
  ],
);

cases("8482: ANY", "www 300 A 192.0.2.1\nftp 300 CNAME www", [
  ["www.example.org ANY", "NOERROR aa", 'answer www.example.org 3600 HINFO "RFC8482" ""'],
  ["ftp.example.org ANY", "NOERROR aa", 'answer ftp.example.org 3600 HINFO "RFC8482" ""'],
  ["x.example.org ANY", "NXDOMAIN aa", soa],
]);

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
