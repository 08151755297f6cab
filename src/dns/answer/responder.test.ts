import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  composeQuery,
  plainEdns,
  respondFrom,
  tcp,
  tls,
  udp,
} from "../../../test/dns/support/query.ts";
import { readRecords, serve, zoneData } from "../../../test/dns/support/served.ts";
import { decodeMessage } from "../wire/message.ts";
import { rcodes, typeCodes } from "../wire/numbers.ts";
import { signMessage, verifyMessage, type TsigKey } from "../wire/tsig.ts";
import { ExternalAddressCache } from "./external-addresses.ts";
import { Responder } from "./responder.ts";

const many = Array.from({ length: 60 }, (_, index) => `many 300 A 192.0.2.${index}`).join("\n");
const zones = serve({
  "example.org": `
    www  300 A 192.0.2.1
    out  300 CNAME far.example.com. ; cf_tags=cf-flatten-cname:true
    big  300 TXT "${"x".repeat(255)}" "${"y".repeat(255)}" "${"z".repeat(255)}"
    ${many}
    sub  300 NS ns.sub
    ${many.replaceAll("many", "ns.sub")}
  `,
});
const { ask, responder } = respondFrom(zones);

describe("a response", () => {
  test("repeats the identifier, RD and CD, sets QR and AA, and never RA", () => {
    const query = composeQuery("www.example.org A", {
      recursionDesired: true,
      checkingDisabled: true,
      authenticData: true,
    });
    expect(ask(query)).toMatchObject({
      id: 0xbeef,
      response: true,
      authoritative: true,
      recursionDesired: true,
      recursionAvailable: false,
      authenticData: false,
      checkingDisabled: true,
      rcode: rcodes.NOERROR,
    });
    expect(ask(composeQuery("www.example.org A")).recursionDesired).toBe(false);
  });

  test("has the case of the query in the question and in owners, also when prepared", () => {
    for (const name of ["wWw.eXample.ORG", "WWW.example.org", "wWw.eXample.ORG"]) {
      const { questions, answers } = ask(composeQuery(`${name} A`));
      expect([questions[0]!.name, answers[0]!.name]).toEqual([name, name]);
    }
  });

  test("has the newest change", () => {
    const own = serve({ "example.org": "www 300 A 192.0.2.1" });
    const { ask: askOwn } = respondFrom(own);
    const [record] = readRecords("example.org", "www 300 A 192.0.2.1");
    const query = composeQuery("www.example.org A");
    for (let last = 1; last < 200; last++) {
      const added = [{ ...record!, content: `192.0.2.${last}` }];
      own.apply("example.org", { serial: last, removed: [record!], added });
      expect(askOwn(query).answers.map(({ data }) => data[3])).toEqual([last]);
      expect(askOwn(query).answers.map(({ data }) => data[3])).toEqual([last]);
    }
  });

  test("needs the address of an external name, and uses the cached one", () => {
    const external = new ExternalAddressCache();
    const own = respondFrom(zones, { external });
    const query = composeQuery("out.example.org A");
    expect(own.responder.respond(query, udp, 0)).toEqual({
      kind: "external",
      question: { name: "far.example.com", type: "A" },
    });
    const question = { name: "far.example.com", type: "A" } as const;
    external.put(question, { addresses: ["192.0.2.9"], ttlSeconds: 100 }, 0);
    expect(own.ask(query, udp, 40).answers[0]).toMatchObject({ ttlSeconds: 60 });
    // An answer that expires is not prepared.
    expect(own.responder.respond(query, udp, 100)).toMatchObject({ kind: "external" });
  });
});

const size = (udpBytesMax: number) => ({ edns: { ...plainEdns, udpBytesMax } });

const truncated = (bytes: number, question = "big.example.org TXT") =>
  ask(composeQuery(question, size(bytes))).truncated;

describe("the size of a response", () => {
  test("is at most 512 octets over UDP without EDNS (RFC 1035)", () => {
    for (let round = 0; round < 2; round++) {
      const response = responder.respond(composeQuery("many.example.org A"), udp, 0) as Uint8Array;
      expect(response.length).toBeLessThanOrEqual(512);
      expect(decodeMessage(response)).toMatchObject({ truncated: true, answers: [] });
    }
    expect(ask(composeQuery("many.example.org A"), tcp).answers).toHaveLength(60);
    expect(ask(composeQuery("many.example.org A"), tcp).truncated).toBe(false);
  });

  test("is at most the size in OPT, between 512 and 1232 octets (RFC 6891)", () => {
    const sizes = [0, 512, 800, 823, 824, 4096];
    expect(sizes.filter((bytes) => truncated(bytes))).toEqual([0, 512, 800, 823]);
    expect(truncated(65_535, "many.example.org A")).toBe(false);
  });

  test("truncates a referral without room for its glue (RFC 9471)", () => {
    expect(ask(composeQuery("x.sub.example.org A"))).toMatchObject({ truncated: true });
    expect(ask(composeQuery("x.sub.example.org A", size(1232))).additionals).toHaveLength(60);
  });
});

describe("EDNS", () => {
  test("is in the response, with DO of the query, only when the query has it", () => {
    expect(ask(composeQuery("www.example.org A")).edns).toBeNull();
    expect(ask(composeQuery("x.example.org A", { edns: plainEdns })).edns).toEqual(plainEdns);
    const edns = { ...plainEdns, dnssecOk: true, udpBytesMax: 4096 };
    expect(ask(composeQuery("www.example.org A", { edns })).edns).toEqual({
      ...plainEdns,
      dnssecOk: true,
    });
  });

  test("with another version gets BADVERS", () => {
    const edns = { ...plainEdns, version: 1 };
    expect(ask(composeQuery("www.example.org A", { edns }))).toMatchObject({
      rcode: rcodes.BADVERS,
      answers: [],
      questions: [{ name: "www.example.org" }],
      edns: { version: 0 },
    });
  });

  test.each([
    ["NSID", 3, 0],
    ["an unknown option", 65_001, 1],
    ["a cookie", 10, 8],
    ["a cookie with the part of a server", 10, 24],
    ["a cookie of a wrong length", 10, 7],
  ])("%s is ignored (RFC 6891 section 6.1.2)", (_, code, length) => {
    const options = [{ code, data: new Uint8Array(length) }];
    const query = (question: string | null) =>
      composeQuery(question, { edns: { ...plainEdns, options } });
    expect(ask(query("www.example.org A"))).toMatchObject({
      rcode: rcodes.NOERROR,
      answers: [{ name: "www.example.org" }],
      edns: plainEdns,
    });
    expect(ask(query(null)).rcode).toBe(rcodes.FORMERR);
  });
});

const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));

describe("a query that is not answered", () => {
  test("a response, or a packet shorter than a header, gets no response", () => {
    const query = composeQuery("www.example.org A");
    expect(responder.respond(query.slice(0, 11), udp, 0)).toBeNull();
    expect(responder.respond(new Uint8Array(), udp, 0)).toBeNull();
    const response = query.slice();
    response[2]! |= 0x80;
    expect(responder.respond(response, udp, 0)).toBeNull();
  });

  test.each([
    ["STATUS", 2, rcodes.NOTIMP],
    ["NOTIFY", 4, rcodes.NOTIMP],
    ["UPDATE", 5, rcodes.REFUSED],
    ["an unassigned opcode", 9, rcodes.NOTIMP],
  ])("%s", (_, opcode, rcode) => {
    expect(ask(composeQuery("www.example.org A", { opcode }))).toMatchObject({
      id: 0xbeef,
      opcode,
      rcode,
    });
  });

  test.each([
    ["MAILA", rcodes.NOTIMP],
    ["TYPE249", rcodes.FORMERR],
    ["TSIG", rcodes.FORMERR],
    ["OPT", rcodes.FORMERR],
    ["TYPE128", rcodes.FORMERR],
  ])("the type %s", (type, rcode) => {
    expect(ask(composeQuery(`www.example.org ${type}`)).rcode).toBe(rcode);
  });

  test.each([
    ["no question", "beef 0000 0000 0000 0000 0000"],
    ["two questions", "beef 0000 0002 0000 0000 0000 00 0001 0001 00 0001 0001"],
    ["a truncated question", "beef 0000 0001 0000 0000 0000 03 777777 00 0001"],
    ["a compressed name", "beef 0000 0001 0000 0000 0000 c000 0001 0001"],
    ["octets after the end", "beef 0000 0001 0000 0000 0000 00 0001 0001 00"],
    [
      "two OPT records",
      `beef 0000 0001 0000 0000 0002 00 0001 0001 ${"00 0029 04d0 00000000 0000".repeat(2)}`,
    ],
    ["a truncated OPT", "beef 0000 0001 0000 0000 0001 00 0001 0001 00 0029 04d0 00000000"],
    ["a missing record", "beef 0000 0001 0001 0000 0000 00 0001 0001"],
  ])("%s gets FORMERR", (_, hex) => {
    const response = responder.respond(fromHex(hex), udp, 0) as Uint8Array;
    expect(Buffer.from(response).toString("hex")).toBe("beef80010000000000000000");
  });

  test.each([
    [0, "A"],
    [3, "A"],
    [255, "A"],
    [255, "SOA"],
    [3, "AXFR"],
  ] as const)("class %d, type %s, gets REFUSED", (questionClass, type) => {
    // The same question in class IN has a prepared answer.
    ask(composeQuery("example.org A"));
    const questions = [{ name: "example.org", type: typeCodes[type], class: questionClass }];
    const response = ask(composeQuery(null, { questions }), tcp);
    expect(response).toMatchObject({ rcode: rcodes.REFUSED, questions, answers: [] });
  });

  test("records beside the question are read and ignored", () => {
    const record = {
      name: "x",
      type: typeCodes.A,
      class: 1,
      ttlSeconds: 0,
      data: new Uint8Array(4),
    };
    const query = composeQuery("www.example.org A", {
      authorities: [record],
      additionals: [record],
      edns: plainEdns,
    });
    expect(ask(query)).toMatchObject({ rcode: rcodes.NOERROR, edns: plainEdns });
    expect(ask(query).answers).toHaveLength(1);
  });

  test("an internal error gets SERVFAIL and is reported", () => {
    const errors: unknown[] = [];
    const broken = serve({ "example.org": "" });
    const record = { ...readRecords("example.org", "www 300 A 192.0.2.1")[0]!, content: "?" };
    broken.put(zoneData("example.org", [record]));
    const own = new Responder({
      zones: broken,
      external: new ExternalAddressCache(),
      onError: (error) => errors.push(error),
    });
    const response = own.respond(composeQuery("www.example.org A"), udp, 0) as Uint8Array;
    expect(decodeMessage(response).rcode).toBe(rcodes.SERVFAIL);
    expect(errors).toHaveLength(1);
  });
});

describe("transfers", () => {
  test("are refused without the option", () => {
    expect(ask(composeQuery("example.org AXFR"), tcp).rcode).toBe(rcodes.REFUSED);
    expect(ask(composeQuery("example.org IXFR"), udp).rcode).toBe(rcodes.REFUSED);
    expect(ask(composeQuery("example.org AXFR"), udp).rcode).toBe(rcodes.REFUSED);
  });

  test.each([tcp, tls])("over $transport are returned to the caller", (source) => {
    const own = respondFrom(zones, { transfers: true });
    const zone = zones.get("example.org");
    for (const type of ["AXFR", "IXFR"]) {
      expect(own.responder.respond(composeQuery(`Example.org ${type}`), source, 0)).toMatchObject({
        kind: "transfer",
        zone,
        signature: null,
        query: { questions: [{ name: "Example.org" }] },
      });
    }
    expect(own.ask(composeQuery("www.example.org AXFR"), source).rcode).toBe(rcodes.NOTAUTH);
    expect(own.ask(composeQuery("example.org AXFR"), udp).rcode).toBe(rcodes.FORMERR);
    const https = { ...tcp, transport: "https" } as const;
    expect(own.ask(composeQuery("example.org AXFR"), https).rcode).toBe(rcodes.REFUSED);
  });

  test("IXFR over UDP gets the SOA alone (RFC 1995 section 2)", () => {
    const own = respondFrom(zones, { transfers: true });
    expect(own.ask(composeQuery("example.org IXFR"))).toMatchObject({
      authoritative: true,
      answers: [{ type: typeCodes.SOA }],
    });
  });
});

const hmac = (_: string, secret: Uint8Array, data: Uint8Array) =>
  new Uint8Array(createHmac("sha256", secret).update(data).digest());

describe("signatures", () => {
  const key: TsigKey = {
    name: "key.example",
    algorithm: "hmac-sha256",
    secret: new Uint8Array(16),
  };
  const findKey = (name: string) => (name === key.name ? key : undefined);
  const own = respondFrom(zones, { tsig: { findKey, hmac }, transfers: true });
  const nowSeconds = 5000;
  const sign = (question: string, changes: object = {}) =>
    signMessage(composeQuery(question, { edns: plainEdns }), {
      key,
      hmac,
      nowSeconds,
      ...changes,
    });

  test("a signed query gets a signed response within its size", () => {
    const { bytes, mac } = sign("many.example.org A");
    const response = own.responder.respond(bytes, udp, nowSeconds) as Uint8Array;
    expect(response.length).toBeLessThanOrEqual(1232);
    const verdict = verifyMessage(response, { findKey, hmac, nowSeconds, priorMac: mac });
    expect(verdict).toMatchObject({ kind: "good", message: { rcode: rcodes.NOERROR } });
    expect(verdict.message.answers).toHaveLength(60);
  });

  test("a transfer has the signature of the query", () => {
    const { bytes, mac } = sign("example.org AXFR");
    expect(own.responder.respond(bytes, tcp, nowSeconds)).toMatchObject({
      kind: "transfer",
      signature: { key, mac },
    });
  });

  test("an unknown key, a wrong signature and a wrong clock get NOTAUTH", () => {
    const rest = { rcode: rcodes.NOTAUTH, answers: [] };
    const unknown = sign("www.example.org A", { key: { ...key, name: "other.example" } });
    expect(own.ask(unknown.bytes, udp, nowSeconds)).toMatchObject({ ...rest, tsig: { error: 17 } });
    expect(ask(sign("www.example.org A").bytes)).toMatchObject({ ...rest, tsig: { error: 17 } });
    const forged = sign("www.example.org A", { key: { ...key, secret: Uint8Array.of(1, 2, 3) } });
    expect(own.ask(forged.bytes, udp, nowSeconds)).toMatchObject({ ...rest, tsig: { error: 16 } });
    const late = own.ask(sign("www.example.org A").bytes, udp, nowSeconds + 301);
    expect(late).toMatchObject({ ...rest, tsig: { error: 18 } });
    expect(late.tsig!.mac).toHaveLength(32);
    expect(late.tsig!.other).toEqual(Uint8Array.of(0, 0, 0, 0, 0x14, 0xb5));
  });
});
