import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRows } from "../../../test/dns/support/served.ts";
import { rdataOf } from "../../../test/dns/support/record-arbitrary.ts";
import { decodeHex, encodeHex } from "../../base/hex.ts";
import { WireError } from "../wire/bytes.ts";
import type { Problem } from "./problem.ts";
import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";
import { scanLines } from "./tokens.ts";
import { recordType, recordTypes } from "./types.ts";

/** Presentation form and wire form of each type. dnspython 2, another implementation, wrote the latter. */
const cases = readRows(String.raw`
  A | 192.0.2.1 | c0000201
  AAAA | 2001:db8::1 | 20010db8000000000000000000000001
  CNAME | target.example.org. | 06746172676574076578616d706c65036f726700
  MX | 10 mail.example.org. | 000a046d61696c076578616d706c65036f726700
  MX | 0 . | 000000
  NS | ns1.example.org. | 036e7331076578616d706c65036f726700
  PTR | host.example.org. | 04686f7374076578616d706c65036f726700
  SOA | ns1.example.org. dns.example.org. 2026081501 10000 2400 604800 1800
    | 036e7331076578616d706c65036f72670003646e73076578616d706c65036f72670078c38cdd000027100000096000093a8000000708
  TXT | "v=spf1 -all" | 0b763d73706631202d616c6c
  TXT | "one" "two \"quoted\" \\ \009" | 036f6e651074776f202271756f74656422205c2009
  CAA | 0 issue "ca.example.net; account=230123"
    | 0005697373756563612e6578616d706c652e6e65743b206163636f756e743d323330313233
  CAA | 128 iodef "mailto:security@example.org"
    | 8005696f6465666d61696c746f3a7365637572697479406578616d706c652e6f7267
  CERT | 1 12345 8 AQIDBAU= | 00013039080102030405
  DNSKEY | 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==
    | 0101030d99db2cc14cabdc33d6d77da63a2f15f71112584f234e8d1dc428e39e8a4a97e1aa271a555dc90701e17e2a4c4b6f120b7c32d44f4ac02bd894cf2d4be7778a19
  DS | 60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118
    | ec4505012bb183af5f22588179a53b0a98631fad1a292118
  HTTPS | 1 . alpn="h3,h2" port="8443" ipv4hint="192.0.2.1,192.0.2.2" ipv6hint="2001:db8::1"
    | 000100000100060268330268320003000220fb00040008c0000201c00002020006001020010db8000000000000000000000001
  HTTPS | 0 pool.example.org. | 000004706f6f6c076578616d706c65036f726700
  SVCB | 16 foo.example.org. mandatory="alpn,ipv4hint" alpn="h2,h3-19" ipv4hint="192.0.2.1"
    | 001003666f6f076578616d706c65036f7267000000000400010004000100090268320568332d313900040004c0000201
  SVCB | 1 foo.example.org. key667="hello\210qoo"
    | 000103666f6f076578616d706c65036f726700029b000968656c6c6fd2716f6f
  SVCB | 1 . alpn="f\\\\oo\\,bar,h2" ech="AQID" dohpath="/dns-query{?dns}"
    | 0001000001000c08665c6f6f2c62617202683200050003010203000700102f646e732d71756572797b3f646e737d
  LOC | 42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m
    | 0033161389172dd070be15f000988d20
  LOC | 0 0 0.000 N 180 0 0.000 E 42849672.95m 0.00m 90000000.00m 0.05m
    | 0000995080000000a69fb200ffffffff
  NAPTR | 100 50 "s" "http+N2L+N2C+N2R" "" www.example.org.
    | 00640032017310687474702b4e324c2b4e32432b4e32520003777777076578616d706c65036f726700
  NAPTR | 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.org!" .
    | 0064000a0175074532552b7369701b215e2e2a24217369703a696e666f406578616d706c652e6f72672100
  SMIMEA | 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
    | 030101d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
  TLSA | 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
    | 030101d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
  SRV | 10 60 5060 sip.example.org. | 000a003c13c403736970076578616d706c65036f726700
  SSHFP | 4 2 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
    | 0402d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
  URI | 10 1 "ftp://ftp1.example.org/public"
    | 000a00016674703a2f2f667470312e6578616d706c652e6f72672f7075626c6963
  OPENPGPKEY | mQINBFIt | 99020d04522d
`);

test("every type has a known answer", () => {
  expect(new Set(cases.map(([type]) => type))).toEqual(new Set(recordTypes.keys()));
});

test.each(cases)("%s %j", (type, [presentation = "", wire = ""]) => {
  const definition = recordType(type);
  const [line] = scanLines(presentation);
  const request = definition.parse(line!.tokens, "")!;
  const rdata = definition.accept(request, "owner.example.org", (found) => {
    throw new Error(found.message);
  })!;
  expect(encodeHex(definition.write(rdata))).toBe(wire);
  expect(encodeHex(definition.write(definition.read(decodeHex(wire)!)))).toBe(wire);
  expect(definition.compose(definition.read(decodeHex(wire)!))).toBe(presentation);
});

function accept(type: string, request: RdataRequest): Rdata {
  const problems: Problem[] = [];
  const rdata = recordType(type).accept(request, "x.example.org", (found) => problems.push(found));
  expect(problems).toEqual([]);
  return rdata!;
}

/** Returns the decoded data or the WireError; throws any other error. */
function readOrWireError(definition: RecordType, bytes: Uint8Array): Rdata | WireError {
  try {
    return definition.read(bytes);
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
}

describe("every record type", () => {
  test("has an arbitrary, except SOA, which requests cannot create", () => {
    expect([...recordTypes.keys()].filter((type) => type !== "SOA").sort()).toEqual(
      Object.keys(rdataOf).sort(),
    );
  });

  test("has a unique number", () => {
    const codes = [...recordTypes.values()].map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  for (const [type, arbitrary] of Object.entries(rdataOf)) {
    const definition = recordType(type);

    test(`${type}: read() reads the wire form back`, () => {
      fc.assert(
        fc.property(arbitrary, fc.nat(20), (request, before) => {
          const rdata = accept(type, request);
          const wire = definition.write(rdata);
          const message = new Uint8Array(before + wire.length + 3);
          message.set(wire, before);
          expect(definition.read(message, before, before + wire.length)).toEqual(rdata);
        }),
      );
    });

    test(`${type}: read() throws no error but WireError`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
          expect(readOrWireError(definition, bytes)).toBeDefined();
        }),
      );
    });

    test(`${type}: read() refuses a shorter or longer wire form, or returns other data`, () => {
      fc.assert(
        fc.property(arbitrary, (request) => {
          const rdata = accept(type, request);
          const wire = definition.write(rdata);
          for (const bytes of [wire.slice(0, -1), Uint8Array.of(...wire, 0)]) {
            expect(readOrWireError(definition, bytes)).not.toEqual(rdata);
          }
        }),
        { numRuns: 50 },
      );
    });
  }
});
