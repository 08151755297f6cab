/** Signatures in time, their bound, and signatures that tests have broken. */
import { beforeAll, describe, expect, it } from "vitest";
import { composeQuery, respondFrom, udp } from "../../../test/dns/support/query.ts";
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
import { readRecords, zoneData } from "../../../test/dns/support/served.ts";
import { AnswerSigner, periodSeconds } from "../dnssec/answer-signer.ts";
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
