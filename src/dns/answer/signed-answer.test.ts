/**
 * Answers of signed zones: their proofs in presentation format, each signature verified; signatures
 * in time, their bound, and signatures that tests have broken.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { composeQuery, plainEdns, respondFrom, udp } from "../../../test/dns/support/query.ts";
import { readRecords, readRows, zoneData } from "../../../test/dns/support/served.ts";
import {
  askSigned,
  checkSignatures,
  describeRecords,
  dnssecOk,
  makeSigning,
  nodeSigner,
  serveSigned,
  signedNow as now,
  signedText,
} from "../../../test/dns/support/signed-zone.ts";
import { AnswerSigner, periodSeconds } from "../dnssec/answer-signer.ts";
import { decodeSignature } from "../dnssec/signature.ts";
import { formatData } from "../record/presentation.ts";
import { rcodeName, typeCodes } from "../wire/numbers.ts";
import { signRecordSet } from "../server/query-handler.ts";
import type { ResponderOptions } from "./responder.ts";
import type { ServedZones } from "./served-zones.ts";

let zones: ServedZones;
beforeAll(async () => {
  zones = await serveSigned({ "example.org": signedText, "example.net": "www 300 A 192.0.2.9" }, [
    "example.org",
  ]);
});

const respond = (options: Partial<ResponderOptions> = {}) => askSigned(zones, options);

describe("signed answers", () => {
  const soa = "authority example.org SOA";
  const table = String.raw`
    www.example.org A | NOERROR
      | answer www.example.org A 192.0.2.2
      | answer www.example.org A 192.0.2.1
    WWW.Example.org A | NOERROR
      | answer WWW.Example.org A 192.0.2.2
      | answer WWW.Example.org A 192.0.2.1
    example.org MX | NOERROR | answer example.org MX 10 mail.example.org.
    www.example.org AAAA | NOERROR | ${soa}
      | authority www.example.org NSEC \000.www.example.org. A RRSIG NSEC
    example.org TXT | NOERROR | ${soa}
      | authority example.org NSEC \000.example.org. A NS SOA MX RRSIG NSEC DNSKEY CDS CDNSKEY
    no.example.org A | NOERROR | ${soa}
      | authority no.example.org NSEC \000.no.example.org. RRSIG NSEC NXNAME
    below.example.org A | NOERROR | ${soa}
      | authority below.example.org NSEC \000.below.example.org. RRSIG NSEC
    x.wild.example.org A | NOERROR | answer x.wild.example.org A 192.0.2.3
    *.wild.example.org A | NOERROR | answer *.wild.example.org A 192.0.2.3
    x.wild.example.org MX | NOERROR | ${soa}
      | authority x.wild.example.org NSEC \000.x.wild.example.org. A RRSIG NSEC
    proxied.example.org A | NOERROR | answer proxied.example.org A 198.18.0.1
    proxied.example.org HTTPS | NOERROR
      | answer proxied.example.org HTTPS 1 . alpn="h3,h2" ipv4hint="198.18.0.1" ipv6hint="2001:2::1"
    flat.example.org A | NOERROR
      | answer flat.example.org A 192.0.2.2
      | answer flat.example.org A 192.0.2.1
    flat.example.org AAAA | NOERROR | ${soa}
      | authority flat.example.org NSEC \000.flat.example.org. A RRSIG NSEC
    flat-none.example.org A | NOERROR | ${soa}
      | authority flat-none.example.org NSEC \000.flat-none.example.org. AAAA RRSIG NSEC
    flat.example.org MX | NOERROR | ${soa}
      | authority flat.example.org NSEC \000.flat.example.org. A AAAA RRSIG NSEC
    alias.example.org A | NOERROR
      | answer alias.example.org CNAME www.example.org.
      | answer www.example.org A 192.0.2.2
      | answer www.example.org A 192.0.2.1
    gone.example.org A | NOERROR
      | answer gone.example.org CNAME nothing.example.org.
      | ${soa}
      | authority nothing.example.org NSEC \000.nothing.example.org. RRSIG NSEC NXNAME
    www.example.org ANY | NOERROR | answer www.example.org HINFO "RFC8482" ""
    signed.example.org DS | NOERROR | answer signed.example.org DS 1 13 2 ${"ab".repeat(32)}
    unsigned.example.org DS | NOERROR | ${soa}
      | authority unsigned.example.org NSEC unsigned\000.example.org. NS RRSIG NSEC
    www.example.org NSEC | NOERROR | answer www.example.org NSEC \000.www.example.org. A RRSIG NSEC
    no.example.org NSEC | NOERROR
      | answer no.example.org NSEC \000.no.example.org. RRSIG NSEC NXNAME
  `;

  it.each(readRows(table))("%s", (question, lines) => {
    const ask = respond();
    const message = ask(question);
    expect(describeRecords(message)).toEqual(lines);
    const keys = ask("example.org DNSKEY").answers;
    const checked = checkSignatures(message, keys, now);
    expect(checked.map(({ verdict }) => verdict)).toEqual(checked.map(() => "valid"));
  });

  it("count the labels of the query name for a set from a wildcard (RFC 9824 section 3.3)", () => {
    const ask = respond();
    const keys = ask("example.org DNSKEY").answers;
    const labels = (name: string) => checkSignatures(ask(`${name} A`), keys, now)[0]?.labels;
    expect([labels("x.y.wild.example.org"), labels("*.wild.example.org")]).toEqual([5, 3]);
  });

  it("have DNSKEY, CDS and CDNSKEY signed by the key-signing key", () => {
    const ask = respond();
    const { answers } = ask("example.org DNSKEY");
    expect(answers.map(({ data }) => data[1])).toEqual([0, 1, typeCodes.DNSKEY]);
    for (const type of ["DNSKEY", "CDS", "CDNSKEY"]) {
      const message = ask(`example.org ${type}`);
      // The second key has the bit Secure Entry Point.
      expect(checkSignatures(message, [answers[1]!], now)[0]?.verdict).toBe("valid");
    }
  });

  it("refer to a signed delegation with its DS set, and to an unsigned one with NSEC", () => {
    const ask = respond();
    const keys = ask("example.org DNSKEY").answers;
    const signed = ask("www.signed.example.org A");
    expect(describeRecords(signed)).toEqual([
      "NOERROR",
      "authority signed.example.org NS ns1.signed.example.org.",
      `authority signed.example.org DS 1 13 2 ${"ab".repeat(32)}`,
    ]);
    const unsigned = ask("www.unsigned.example.org A");
    expect(describeRecords(unsigned).at(-1)).toBe(
      "authority unsigned.example.org NSEC unsigned\\000.example.org. NS RRSIG NSEC",
    );
    for (const message of [signed, unsigned]) {
      const verdicts = checkSignatures(message, keys, now).map(({ verdict }) => verdict);
      expect(verdicts).toEqual(["unsigned", "valid"]);
    }
  });

  it("leave the sets of unsigned zones without signatures", () => {
    const message = respond()("away.example.org A");
    const verdicts = checkSignatures(message, respond()("example.org DNSKEY").answers, now);
    expect(verdicts.map(({ set, verdict }) => [set, verdict])).toEqual([
      ["away.example.org CNAME", "valid"],
      ["www.example.net A", "unsigned"],
    ]);
  });

  it("sign a set of external addresses with the TTL of the CNAME, while its TTL counts down", () => {
    const flat = "flat 300 CNAME www.example.com. ; cf_tags=cf-flatten-cname:true";
    return serveSigned({ "example.org": flat }).then((own) => {
      const external = {
        get: () => ({ data: [Uint8Array.of(192, 0, 2, 7)], ttlSeconds: 17 }),
      } as never;
      const { ask } = respondFrom(own, { signer: nodeSigner(), external });
      const message = ask(composeQuery("flat.example.org A", dnssecOk), udp, now);
      const keys = ask(composeQuery("example.org DNSKEY", dnssecOk), udp, now).answers;
      expect(message.answers.map(({ ttlSeconds }) => ttlSeconds)).toEqual([17, 17]);
      expect(checkSignatures(message, keys, now)[0]?.verdict).toBe("valid");
      expect(formatData(typeCodes.RRSIG, message.answers[1]!.data)).toMatch(/^A 13 3 300 /);
    });
  });
});

describe("the flags of EDNS", () => {
  it("without DO an answer has no proofs, and a name that does not exist gets NXDOMAIN", () => {
    const ask = respond();
    for (const changes of [{}, { edns: plainEdns }]) {
      // A query with DO before must not matter.
      ask("www.example.org A");
      expect(describeRecords(ask("no.example.org A", changes))).toEqual([
        "NXDOMAIN",
        "authority example.org SOA",
      ]);
      const { answers } = ask("www.example.org A", changes);
      expect(answers.every(({ type }) => type === typeCodes.A)).toBe(true);
    }
  });

  it("with CO a name that does not exist gets NXDOMAIN with its proof, and CO is repeated", () => {
    const edns = { ...plainEdns, dnssecOk: true, compactOk: true };
    const message = respond()("no.example.org A", { edns });
    expect(describeRecords(message)).toEqual([
      "NXDOMAIN",
      "authority example.org SOA",
      "authority no.example.org NSEC \\000.no.example.org. RRSIG NSEC NXNAME",
    ]);
    expect(message.edns).toMatchObject({ dnssecOk: true, compactOk: true });
    expect(respond()("no.example.org A").edns).toMatchObject({ compactOk: false });
  });

  it("a query for NXNAME is malformed (RFC 9824 section 3.6)", () => {
    expect(rcodeName(respond()("www.example.org NXNAME").rcode)).toBe("FORMERR");
  });
});

describe("signatures in time", () => {
  it("are valid at any time, also from prepared answers", () => {
    const ask = respond();
    for (let at = now; at < now + periodSeconds * 12; at += periodSeconds / 2) {
      const keys = ask("example.org DNSKEY", dnssecOk, udp, at).answers;
      for (const question of ["www.example.org A", "no.example.org A"]) {
        const message = ask(question, dnssecOk, udp, at);
        expect(checkSignatures(message, keys, at).map(({ verdict }) => verdict)).not.toContain(
          "expired",
        );
      }
    }
  });

  it("are made once for each set and period", () => {
    let count = 0;
    const signer = new AnswerSigner({
      sign: (request) => {
        count += 1;
        return signRecordSet(request);
      },
    });
    const ask = respond({ signer });
    for (let round = 0; round < 3; round++) {
      for (const name of ["www", "no", "x.wild", "www.unsigned"]) ask(`${name}.example.org A`);
    }
    // www A; SOA and NSEC of no; x.wild A; NSEC of the delegation.
    expect(count).toBe(5);
    ask("no.example.org A", dnssecOk, udp, now + periodSeconds);
    expect(count).toBe(7);
  });

  it("follow a change of the records and of the keys", async () => {
    const own = await serveSigned({ "example.org": "www 300 A 192.0.2.1" });
    const { ask } = respondFrom(own, { signer: nodeSigner() });
    const verdict = () => {
      const keys = ask(composeQuery("example.org DNSKEY", dnssecOk), udp, now).answers;
      const message = ask(composeQuery("www.example.org A", dnssecOk), udp, now);
      return checkSignatures(message, keys, now).map((each) => each.verdict);
    };
    expect(verdict()).toEqual(["valid"]);
    own.apply("example.org", {
      serial: 8,
      removed: [],
      added: readRecords("example.org", "\nwww 300 A 192.0.2.2").map((record) => ({
        ...record,
        id: "second",
      })),
    });
    expect(verdict()).toEqual(["valid"]);
    own.put(
      zoneData("example.org", readRecords("example.org", "www 300 A 192.0.2.2"), {
        signing: await makeSigning("example.org"),
      }),
    );
    expect(verdict()).toEqual(["valid"]);
  });
});

const broken = async (kind: "expired_signature" | "wrong_signature", name: string | null) => {
  const own = await serveSigned({ "example.org": signedText }, undefined, [{ kind, name }]);
  const { ask } = respondFrom(own, { signer: nodeSigner() });
  const keys = ask(composeQuery("example.org DNSKEY", dnssecOk), udp, now).answers;
  return (question: string) => {
    const message = ask(composeQuery(question, dnssecOk), udp, now);
    return checkSignatures(message, keys, now).map(({ verdict }) => verdict);
  };
};

it("a roll of keys changes prepared answers at its times, also when the clock goes back", async () => {
  const [old, next] = [await makeSigning("example.org"), await makeSigning("example.org")];
  const roll = { next, startSeconds: now, dsSeconds: now, paceSeconds: 10 };
  const rolling = await serveSigned({ "example.org": signedText }, []);
  const records = readRecords("example.org", signedText);
  rolling.put(zoneData("example.org", records, { signing: { ...old, roll } }));
  const ask = askSigned(rolling);
  const tagsAt = (seconds: number, question: string) =>
    ask(question, dnssecOk, udp, now + seconds)
      .answers.filter(({ type }) => type === typeCodes.RRSIG)
      .map(({ data }) => decodeSignature(data).fields.keyTag);
  const [oldTag, nextTag] = [old, next].map(({ zoneSigningKey }) => zoneSigningKey.keyTag);
  for (const [seconds, tag, keyCount] of [
    [0, oldTag, 4],
    [9, oldTag, 4],
    [10, nextTag, 4],
    [20, nextTag, 2],
    [15, nextTag, 4],
    [5, oldTag, 4],
    [20, nextTag, 2],
  ] as const) {
    expect(tagsAt(seconds, "www.example.org A")).toEqual([tag]);
    const keys = ask("example.org DNSKEY", dnssecOk, udp, now + seconds).answers;
    expect(keys.filter(({ type }) => type === typeCodes.DNSKEY)).toHaveLength(keyCount);
  }
});

describe("signatures that a test has broken", () => {
  it("have ended", async () => {
    const check = await broken("expired_signature", "www.example.org");
    expect([check("www.example.org A"), check("flat.example.org A")]).toEqual([
      ["expired"],
      ["valid"],
    ]);
    expect((await broken("expired_signature", null))("no.example.org A")).toEqual([
      "expired",
      "expired",
    ]);
  });

  it("do not belong to their set", async () => {
    const check = await broken("wrong_signature", "no.example.org");
    // The second answer comes from the cache.
    check("no.example.org A");
    expect([check("no.example.org A"), check("www.example.org A")]).toEqual([
      ["valid", "wrong"],
      ["valid"],
    ]);
  });

  it("leave out the DS set, and do not deny it", async () => {
    const fault = { kind: "missing_ds", name: "signed.example.org" } as const;
    const own = await serveSigned({ "example.org": signedText }, undefined, [fault]);
    const { ask } = respondFrom(own, { signer: nodeSigner() });
    const query = (question: string) => ask(composeQuery(question, dnssecOk), udp, now);
    expect(describeRecords(query("www.signed.example.org A"))).toEqual([
      "NOERROR",
      "authority signed.example.org NS ns1.signed.example.org.",
    ]);
    expect(describeRecords(query("signed.example.org DS"))).toEqual([
      "NOERROR",
      "authority example.org SOA",
      "authority signed.example.org NSEC signed\\000.example.org. NS DS RRSIG NSEC",
    ]);
  });
});

describe("a signer without a function", () => {
  it("names the signatures of an answer, and takes them", () => {
    const signer = new AnswerSigner();
    const { responder } = respondFrom(zones, { signer });
    const query = composeQuery("no.example.org A", dnssecOk);
    const first = responder.respond(query, udp, now);
    expect(first).toMatchObject({ kind: "signatures", requests: [{}, {}] });
    if (first === null || !("requests" in first)) throw new Error("no signatures are needed");
    for (const request of first.requests) signer.put(request, signRecordSet(request));
    expect(responder.respond(query, udp, now)).toBeInstanceOf(Uint8Array);
  });
});
