import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyRecord } from "../../../test/dns/support/record-arbitrary.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { acceptOrThrow, recordRules } from "../../../test/dns/support/accept.ts";
import type { RecordRequest } from "../rules/accept-record.ts";
import { ZoneError } from "../record/problem.ts";
import { recordType } from "../record/types.ts";
import type { RecordDraft } from "../record/zone-record.ts";
import { encodeUtf8 } from "../wire/bytes.ts";
import { encodeName, escapeLabel, textKey } from "../wire/name.ts";
import { composeZoneFile } from "./compose.ts";
import { parseZoneFile, readZoneFile, zoneFileText } from "./parse.ts";

const draft = (request: RecordRequest) =>
  acceptOrThrow(request, { ...recordRules, nameRules: "dns" });

const options = { zoneName: "example.org", proxied: false, recordsMax: 1000 };

function parse(text: string, proxied = false): RecordDraft[] {
  return parseZoneFile(text, { ...options, proxied }).map(({ request }) => draft(request));
}

function short(text: string): string[] {
  return parse(text).map(({ name, ttl, type, content, priority }) =>
    [name, ttl, type, priority, content].filter((word) => word !== null).join(" "),
  );
}

describe("parseZoneFile() reads", () => {
  test.each<[string, string, string[]]>([
    [
      "owners, blanks and @",
      "@ A 192.0.2.1\n  AAAA ::1\nwww A 192.0.2.2",
      ["example.org 1 A 192.0.2.1", "example.org 1 AAAA ::1", "www.example.org 1 A 192.0.2.2"],
    ],
    [
      "TTL and class in either order",
      "a 60 IN A 192.0.2.1\nb IN 60 A 192.0.2.1\nc 1h A 192.0.2.1\nd in A 192.0.2.1",
      [
        "a.example.org 60 A 192.0.2.1",
        "b.example.org 60 A 192.0.2.1",
        "c.example.org 3600 A 192.0.2.1",
        "d.example.org 1 A 192.0.2.1",
      ],
    ],
    [
      "$TTL and $ORIGIN",
      "$TTL 1h30m\n$ORIGIN sub\na A 192.0.2.1\n$ORIGIN example.org.\n$TTL 60\nb CNAME a.sub",
      ["a.sub.example.org 5400 A 192.0.2.1", "b.example.org 60 CNAME a.sub.example.org"],
    ],
    [
      "parentheses and comments",
      "@ SOA ns1 dns ( 1 ; serial\n 2 3\n 4 5 )\nm MX ( 10\n mail ) ; kept",
      ["m.example.org 1 MX 10 mail.example.org"],
    ],
    [
      "relative, absolute and @ targets",
      "a CNAME b\nc CNAME d.test.\ne MX 5 @",
      [
        "a.example.org 1 CNAME b.example.org",
        "c.example.org 1 CNAME d.test",
        "e.example.org 1 MX 5 example.org",
      ],
    ],
    ["quoted strings with ; and ( inside", 't TXT "a;b" "(c"', ['t.example.org 1 TXT "a;b" "(c"']],
    ["words without quotation marks", "t TXT v=1 two", ['t.example.org 1 TXT "v=1" "two"']],
    [
      "$GENERATE",
      "$GENERATE 1-3 host-$ A 192.0.2.$",
      [
        "host-1.example.org 1 A 192.0.2.1",
        "host-2.example.org 1 A 192.0.2.2",
        "host-3.example.org 1 A 192.0.2.3",
      ],
    ],
    [
      "$GENERATE with step, offset, width and base",
      "$GENERATE 8-12/4 h${0,3,x} 60 IN CNAME t${-8,2,d}",
      ["h008.example.org 60 CNAME t00.example.org", "h00c.example.org 60 CNAME t04.example.org"],
    ],
    [
      "lines that end in CRLF, and a byte order mark",
      "\uFEFFa A 192.0.2.1\r\nb A 192.0.2.2\r\n",
      ["a.example.org 1 A 192.0.2.1", "b.example.org 1 A 192.0.2.2"],
    ],
    [
      "hexadecimal in several words",
      "a SSHFP 1 1 ( 0123456789abcdef0123\n 456789abcdef01234567 )",
      ["a.example.org 1 SSHFP 1 1 0123456789abcdef0123456789abcdef01234567"],
    ],
    ["CERT mnemonics", "a CERT PKIX 1 8 AQID", ["a.example.org 1 CERT 1 1 8 AQID"]],
    [
      "LOC with parts left out",
      "a LOC 42 N 71 6 W 10m\nb LOC 42 21 54 N 71 6 18 W -24m 30m",
      [
        "a.example.org 1 LOC 42 0 0.000 N 71 6 0.000 W 10.00m 1.00m 10000.00m 10.00m",
        "b.example.org 1 LOC 42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m",
      ],
    ],
    [
      "mnemonics of algorithms and digests",
      `a CERT PKIX 1 RSASHA256 AQID
       a DNSKEY 256 3 ECDSAP256SHA256 AQID
       b DS 1 ed25519 SHA-256 ${"ab".repeat(32)}`.replaceAll(/^ +/gm, ""),
      [
        "a.example.org 1 CERT 1 1 8 AQID",
        "a.example.org 1 DNSKEY 256 3 13 AQID",
        `b.example.org 1 DS 1 15 2 ${"ab".repeat(32)}`,
      ],
    ],
    [
      "TTLs outside of the range as the nearest, and 1 as Auto",
      "$TTL 0\na A 192.0.2.1\nb 30 A 192.0.2.1\nc 1w A 192.0.2.1\nd 1 A 192.0.2.1",
      [
        "a.example.org 60 A 192.0.2.1",
        "b.example.org 60 A 192.0.2.1",
        "c.example.org 86400 A 192.0.2.1",
        "d.example.org 1 A 192.0.2.1",
      ],
    ],
    [
      "data of known types in hexadecimal (RFC 3597)",
      "a TYPE1 \\# 4 c0000201\nb A \\# 4 ( c000\n 0202 )\nc TYPE15 \\# 6 000a 026d78 00",
      ["a.example.org 1 A 192.0.2.1", "b.example.org 1 A 192.0.2.2", "c.example.org 1 MX 10 mx"],
    ],
    [
      "type SPF as TXT",
      'a SPF "v=spf1 -all"\nb TYPE99 "v=spf1 -all"',
      ['a.example.org 1 TXT "v=spf1 -all"', 'b.example.org 1 TXT "v=spf1 -all"'],
    ],
    [
      "owners with an escaped dot",
      "first\\.last TXT x\n\\. TXT x",
      ['first\\.last.example.org 1 TXT "x"', '\\..example.org 1 TXT "x"'],
    ],
    ["nothing", "", []],
    ["only comments", "; a\n\n   ; b\n", []],
  ])("%s", (_, text, records) => expect(short(text)).toEqual(records));

  test("comments, tags and proxied", () => {
    const [record] = parse(
      "a A 192.0.2.1 ; web server; old cf_tags=team:web,env:prod,cf-proxied:true",
    );
    expect(record).toMatchObject({
      comment: "web server; old",
      tags: ["team:web", "env:prod"],
      proxied: true,
      ttl: 1,
    });
  });

  test("proxied from the options, for lines that do not specify it and types that can be proxied", () => {
    const text = "a A 192.0.2.1\nb A 192.0.2.1 ; cf_tags=cf-proxied:false\nc TXT x";
    expect(parse(text, true).map(({ proxied }) => proxied)).toEqual([true, false, false]);
  });
});

describe("parseZoneFile() refuses, and reports the line", () => {
  test.each([
    ["$INCLUDE other.zone", 1, "$INCLUDE is not allowed"],
    ["a A 192.0.2.1\n$include x", 2, "$INCLUDE is not allowed"],
    ["$ORIGIN", 1, "$ORIGIN needs a value"],
    ["$TTL soon", 1, "soon is not a TTL"],
    ["$MAGIC 1", 1, "$MAGIC is not a directive"],
    ["$GENERATE x a A 192.0.2.1", 1, "range"],
    ["$GENERATE 5-1 a A 192.0.2.$", 1, "range"],
    ["$GENERATE 0-999999 a A 192.0.2.1", 1, "range"],
    ["$GENERATE 0-1 a${-5} A 192.0.2.1", 1, "fill in"],
    ["$GENERATE 0-1", 1, "missing"],
    ["  A 192.0.2.1", 1, "no owner"],
    ["a CH TXT x", 1, "class CH"],
    ["a DNAME b", 1, "DNAME"],
    ["a", 1, "not supported"],
    ["a MX 10", 1, "incomplete"],
    ["a A", 1, "incomplete"],
    ["a A 192.0.2.1 192.0.2.2", 1, "too long"],
    ['\na TXT "open\nb A 192.0.2.1', 2, "quotation mark is not closed"],
    ["a A ( 192.0.2.1\n", 1, "parenthesis is not closed"],
    ["a A 192.0.2.1 )", 1, "not opened"],
    ["a LOC 1 2 3 4 N 5 E 1m", 1, "incomplete"],
    ["a LOC 42 N 71 W", 1, "incomplete"],
  ])("%j", (text, line, reason) => {
    expect(() => parse(text)).toThrow(`Line ${line}: `);
    expect(() => parse(text)).toThrow(reason);
  });

  test("every line that is wrong", () => {
    const text = [
      "a A 192.0.2.1",
      "b DNAME c",
      'c TXT "open',
      "$TTL soon",
      "d MX 10",
      "e A 192.0.2.1 )",
      "f TYPE1 \\# 3 c00002",
      "g TYPE1 \\# 4 c00002",
    ].join("\n");
    const { records, problems } = readZoneFile(text, options);
    expect(records.map(({ request }) => request["name"])).toEqual(["a.example.org."]);
    const lines = problems.map(({ message }) => /^Line (\d+)/.exec(message)?.[1]);
    expect(lines.join(" ")).toBe("2 3 4 5 6 7 8");
    expect(() => parseZoneFile(text, options)).toThrow("Line 8");
  });

  test("more records than allowed, also from $GENERATE", () => {
    expect(() => parse("$GENERATE 1-2000 h$ A 192.0.2.1")).toThrow("quota");
  });
});

const head = {
  zoneName: "example.org",
  nameServers: [],
  nsTtlSeconds: 86_400,
  soaTtlSeconds: 3600,
  soa: "ns1.ledge.local. dns.ledge.local. 1 2 3 4 5",
  exportedOn: "2026-01-01T00:00:00.000Z",
};

function sorted(list: readonly RecordDraft[]): string[] {
  return list.map((record) => JSON.stringify(record)).sort();
}

test("composeZoneFile() writes a CNAME beside other records as a comment that an import reads", () => {
  const records = [
    draft({ type: "CNAME", name: "@", content: "apex.test", comment: "flat" }),
    draft({ type: "CNAME", name: "mixed", content: "other.test" }),
    draft({ type: "TXT", name: "mixed", content: '"beside"' }),
    draft({ type: "CNAME", name: "plain", content: "other.test" }),
  ];
  const file = composeZoneFile(head, records);
  const lines = file.split("\n").filter((line) => !line.startsWith(";"));
  expect(lines.filter((line) => line.includes("CNAME"))).toEqual([
    expect.stringContaining("plain.example.org."),
  ]);
  expect(sorted(parse(file))).toEqual(sorted(records));
});

test("parseZoneFile() reads every record that composeZoneFile() writes", () => {
  fc.assert(
    fc.property(anyRecord, (request) => {
      const record = draft({ ...request, name: "owner" });
      expect(parse(composeZoneFile(head, [record]))).toEqual([record]);
    }),
    { numRuns: propertyRuns({ few: 500, all: 2000 }) },
  );
});

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("zoneFileText() keeps every octet", () => {
  test.each([
    ["UTF-8 as it is", encodeUtf8("a TXT grüße"), "a TXT grüße"],
    ["other octets as escapes", latin1('a TXT "gr\xfc\xdfe"'), 'a TXT "gr\\252\\223e"'],
    ["octets after a backslash", latin1("a TXT \\\xfc\\\\\xfc"), "a TXT \\252\\\\\\252"],
    ["UTF-8 beside other octets", latin1("\xc3\xbc\xfc\xe2\x82"), "ü\\252\\226\\130"],
  ])("%s", (_, octets, text) => expect(zoneFileText(octets)).toBe(text));

  test("in the strings of TXT", () => {
    const strings = fc.array(fc.uint8Array({ maxLength: 255 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(strings, (given) => {
        // As the file of a program that escapes only what the format requires.
        const words = given.map((octets) => [
          0x22,
          ...Array.from(octets).flatMap((octet) =>
            octet === 0x22 || octet === 0x5c
              ? [0x5c, octet]
              : octet === 0x0a
                ? [...latin1("\\010")]
                : [octet],
          ),
          ...latin1('" '),
        ]);
        const text = zoneFileText(Uint8Array.from([...latin1("a TXT "), ...words.flat()]));
        const [record] = parse(text);
        const type = recordType("TXT");
        const expected = given.flatMap((octets) => [octets.length, ...octets]);
        expect([...type.write(type.parseContent(record!.content, null))]).toEqual(expected);
        expect(parse(composeZoneFile(head, [record!]))).toEqual([record]);
      }),
      { numRuns: propertyRuns({ few: 200, all: 2000 }) },
    );
  });

  test("in names", () => {
    const label = fc.uint8Array({ minLength: 1, maxLength: 20 });
    // A first word `\#` of data announces octets (RFC 3597 section 5), so the relative name `\#` cannot stand there.
    const relative = label.filter((octets) => escapeLabel(octets) !== "\\#");
    fc.assert(
      fc.property(label, relative, (owner, target) => {
        const [name, content] = [`${escapeLabel(owner)}.example.org`, escapeLabel(target)];
        const [record] = parse(`${name}. PTR ${content}`);
        expect(textKey(record!.name)).toBe(textKey(name));
        expect(textKey(record!.content)).toBe(textKey(`${content}.example.org`));
        expect(encodeName(record!.name)).toHaveLength(owner.length + 14);
        expect(parse(composeZoneFile(head, [record!]))).toEqual([record]);
      }),
      { numRuns: propertyRuns({ few: 200, all: 2000 }) },
    );
  });
});

/** Throws any error but ZoneError. */
function isParsedOrRefused(text: string): boolean {
  try {
    parseZoneFile(text, { zoneName: "example.org", proxied: false, recordsMax: 100 });
  } catch (error) {
    if (!(error instanceof ZoneError)) throw error;
  }
  return true;
}

test("parseZoneFile() throws no error but ZoneError", () => {
  const words = [...'aA1 \t\n;"()\\$.@'.split(""), "A", "IN", "TXT", "$TTL ", "$GENERATE 1-2 "];
  const noise = fc.string({ unit: fc.constantFrom(...words), maxLength: 60 });
  fc.assert(
    fc.property(noise, (text) => {
      expect(isParsedOrRefused(text)).toBe(true);
    }),
    { numRuns: propertyRuns({ few: 500, all: 2000 }) },
  );
});
