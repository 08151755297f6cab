/** The example of RFC 6605 section 6.1: a key, its DS record, and a set that the key has signed. */
import { createHash, createPublicKey, verify } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordType } from "../record/types.ts";
import { decodeBase64 } from "../wire/bytes.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { keyTagOf, digestedOctets, dnskeyData, dsData, keySigningFlags } from "./zone-signing.ts";
import {
  canonicalData,
  canonicalSet,
  compareOctets,
  decodeSignature,
  encodeSignatureFields,
  labelCount,
  signatureAlgorithm,
  signedOctets,
} from "./signature.ts";

const publicKey =
  "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
const digest = "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17";
const signature =
  "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==";
const apex = encodeName("example.net");
const dnskey = dnskeyData({ flags: keySigningFlags, publicKey });
const fields = {
  typeCovered: typeCodes.A,
  algorithm: signatureAlgorithm,
  labels: 3,
  originalTtlSeconds: 3600,
  expirationSeconds: Date.UTC(2010, 8, 9, 10, 4, 39) / 1000,
  inceptionSeconds: Date.UTC(2010, 7, 12, 10, 4, 39) / 1000,
  keyTag: 55_648,
  signerName: apex,
};

function isSignedBy(octets: Uint8Array): boolean {
  const point = Buffer.from(publicKey, "base64");
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((half) =>
    half.toString("base64url"),
  );
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
  const encoding = { key, dsaEncoding: "ieee-p1363" } as const;
  return verify("sha256", octets, encoding, decodeBase64(signature)!);
}

describe("RFC 6605 section 6.1", () => {
  it("keyTagOf() gives the tag of the key", () => {
    expect(keyTagOf(dnskey)).toBe(55_648);
  });

  it("digestedOctets() and dsData() give the DS record", () => {
    const hash = createHash("sha256").update(digestedOctets(apex, dnskey)).digest("hex");
    expect(hash).toBe(digest);
    const key = { flags: keySigningFlags, keyTag: 55_648, publicKey } as never;
    const data = dsData({ keySigningKey: key, zoneSigningKey: key, digest });
    expect(recordType("DS").compose(recordType("DS").read(data))).toBe(`55648 13 2 ${digest}`);
  });

  it("signedOctets() gives the octets that the key has signed, whatever the case of names", () => {
    const data = [Uint8Array.of(192, 0, 2, 1)];
    for (const owner of ["www.example.net", "WWW.Example.NET"]) {
      const set = { owner: encodeName(owner), type: typeCodes.A, data };
      expect(isSignedBy(signedOctets(set, fields))).toBe(true);
    }
    const other = {
      owner: encodeName("www.example.net"),
      type: typeCodes.A,
      data: [...data, apex],
    };
    expect(isSignedBy(signedOctets(other, fields))).toBe(false);
  });
});

describe("RFC 4034 section 5.4", () => {
  it("keyTagOf() gives the tag of an RSA key", () => {
    const key =
      "AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAph" +
      "XdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==";
    expect(keyTagOf(Uint8Array.of(1, 0, 3, 5, ...decodeBase64(key)!))).toBe(60_485);
  });
});

describe("RRSIG data", () => {
  it("decodeSignature() reads what encodeSignatureFields() writes", () => {
    const data = Uint8Array.of(...encodeSignatureFields(fields), 1, 2, 3);
    expect(decodeSignature(data)).toEqual({ fields, signature: Uint8Array.of(1, 2, 3) });
  });

  it("labelCount() counts neither the root nor an asterisk", () => {
    const counts = [".", "example.net", "*.example.net", "*.*.example.net", "a*.example.net"];
    expect(counts.map((name) => labelCount(encodeName(name)))).toEqual([0, 2, 2, 3, 3]);
  });

  it("signedOctets() takes the wildcard for an owner with more labels than the signature", () => {
    const data = [Uint8Array.of(192, 0, 2, 1)];
    const expanded = { owner: encodeName("a.b.example.net"), type: typeCodes.A, data };
    const wildcard = { owner: encodeName("*.example.net"), type: typeCodes.A, data };
    const signed = { ...fields, labels: 2 };
    expect(signedOctets(expanded, signed)).toEqual(signedOctets(wildcard, signed));
  });
});

describe("canonicalData()", () => {
  it("lowers the names of MX, and no octets of other fields", () => {
    const data = Uint8Array.of(0x41, 0x42, ...encodeName("Mail.Example"));
    expect(canonicalData(typeCodes.MX, data)).toEqual(
      Uint8Array.of(0x41, 0x42, ...encodeName("mail.example")),
    );
  });

  it("lowers the replacement of NAPTR after its three strings", () => {
    const strings = [1, 0x55, 3, 0x53, 0x49, 0x50, 0];
    const data = Uint8Array.of(0, 1, 0, 2, ...strings, ...encodeName("SIP.Example"));
    expect(canonicalData(35, data)).toEqual(
      Uint8Array.of(0, 1, 0, 2, ...strings, ...encodeName("sip.example")),
    );
  });

  it("leaves the data of types without names unchanged", () => {
    const data = new TextEncoder().encode("\u0005Hello");
    expect(canonicalData(16, data)).toBe(data);
  });
});

describe("canonicalSet()", () => {
  it("sorts by octets and drops equal records", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 8 }), (data) => {
        const set = canonicalSet(16, [...data, ...data]);
        for (let at = 1; at < set.length; at++) {
          expect(compareOctets(set[at - 1]!, set[at]!)).toBeLessThan(0);
        }
        const distinct = new Set(data.map((octets) => octets.join(" ")));
        expect(set.length).toBe(distinct.size);
      }),
    );
  });
});
