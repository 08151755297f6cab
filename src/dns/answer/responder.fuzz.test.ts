/** Mutated packets. The name of each test has its seed. */
import { expect, test } from "vitest";
import { composeQuery, plainEdns, respondFrom, tcp, udp } from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import { serveSigned } from "../../../test/dns/support/signed-zone.ts";
import { AnswerSigner } from "../dnssec/answer-signer.ts";
import type { ResponderOptions } from "./responder.ts";
import { decodeMessage } from "../wire/message.ts";
import { WireError } from "../wire/bytes.ts";

const seeds = [1, 20_261_115];
/** Of each seed, in each test. */
const packets = Number(process.env["LEDGE_FUZZ_PACKETS"] ?? 40_000) / (2 * seeds.length);

/** An xorshift generator: the numbers are the same on every machine. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const texts = {
  "example.org": `
    @      300 MX 10 mail
    www    300 A 192.0.2.1
    ftp    300 CNAME www
    *.wild 300 TXT "wild"
    flat   300 CNAME www ; cf_tags=cf-flatten-cname:true
    proxy  1   A 192.0.2.1 ; cf_tags=cf-proxied:true
    sub    300 NS ns.sub
    ns.sub 300 A 192.0.2.2
  `,
};
const zones = serve(texts);
const signedZones = await serveSigned(texts);
const dnssec = { edns: { ...plainEdns, dnssecOk: true } };

const record = {
  name: "x.example.org",
  type: 6,
  class: 1,
  ttlSeconds: 1,
  data: new Uint8Array(22),
};
const tsig = {
  keyName: "key",
  algorithm: "hmac-sha256",
  timeSignedSeconds: 1,
  fudgeSeconds: 300,
  mac: new Uint8Array(32),
  originalId: 1,
  error: 0,
  other: new Uint8Array(),
};
const options = [
  { code: 3, data: new Uint8Array() },
  { code: 10, data: new Uint8Array(24) },
];
const good = [
  composeQuery("www.example.org A"),
  composeQuery("a.wild.example.org TXT", { edns: plainEdns }),
  composeQuery("ftp.example.org A", { edns: { ...plainEdns, options } }),
  composeQuery("x.sub.example.org AAAA", { edns: plainEdns, recursionDesired: true }),
  composeQuery("flat.example.org A", { authorities: [record], additionals: [record] }),
  composeQuery("proxy.example.org HTTPS", { tsig, edns: plainEdns }),
  composeQuery("example.org IXFR", { authorities: [record] }),
  composeQuery(null, { edns: { ...plainEdns, options } }),
  composeQuery("www.example.org A", dnssec),
  composeQuery("nothing.example.org NSEC", dnssec),
  composeQuery("a.wild.example.org MX", dnssec),
  ...["www.example.org A", "x.sub.example.org A"].map(
    (question) =>
      respondFrom(zones).responder.respond(composeQuery(question), udp, 0) as Uint8Array,
  ),
];

function mutate(random: (below: number) => number): Uint8Array {
  const packet = good[random(good.length)]!;
  const grown = new Uint8Array(packet.length + random(8) * random(4));
  grown.set(packet);
  const bytes = random(4) === 0 ? grown.subarray(0, random(grown.length + 1)) : grown;
  for (let count = random(6); count > 0 && bytes.length > 0; count--) {
    const at = random(bytes.length);
    const kinds = [random(256), 0xc0 | random(64), bytes[at]! ^ (1 << random(8)), 0, 0xff];
    bytes[at] = kinds[random(kinds.length)]!;
  }
  // The responder ignores responses at once; most packets should get further.
  if (bytes.length > 2 && random(8) > 0) bytes[2]! &= 0x7f;
  return bytes;
}

/** The kinds of responses to mutated packets. */
function fuzz(seed: number, served: typeof zones, more: Partial<ResponderOptions>): string[] {
  const random = randomFrom(seed);
  const { responder } = respondFrom(served, {
    transfers: true,
    tsig: { findKey: () => undefined, hmac: () => new Uint8Array(32) },
    ...more,
  });
  const kinds = new Set<string>();
  for (let count = 0; count < packets; count++) {
    const packet = mutate(random);
    const source = random(2) === 0 ? udp : tcp;
    const response = responder.respond(packet, source, 1000);
    if (response instanceof Uint8Array) {
      const { id, response: isResponse, rcode } = decodeMessage(response);
      const isWrong =
        !isResponse ||
        id !== ((packet[0]! << 8) | packet[1]!) ||
        (source === udp && response.length > 1232);
      if (isWrong) throw new Error(Buffer.from(packet).toString("hex"));
      kinds.add(`rcode ${rcode}`);
    } else kinds.add(response === null ? "silence" : response.kind);
  }
  return [...kinds].sort();
}

/** The mutations matter here, and not the signatures. */
const noSignature = () => new Uint8Array(64);

const rcodes = [0, 1, 16, 3, 4, 5, 9].map((rcode) => `rcode ${rcode}`);
const kindsOfResponses = [...rcodes, "silence", "transfer"];

test.each(seeds)("respond() never throws, and its responses can be decoded: seed %d", (seed) => {
  expect(fuzz(seed, zones, {})).toEqual(kindsOfResponses);
});

test.each(seeds)("respond() from a signed zone never throws: seed %d", (seed) => {
  const signer = new AnswerSigner({ sign: noSignature });
  expect(fuzz(seed, signedZones, { signer })).toEqual(kindsOfResponses);
});

test.each(seeds)("decodeMessage() throws only WireError: seed %d", (seed) => {
  const random = randomFrom(seed);
  let refused = 0;
  for (let count = 0; count < packets; count++) {
    try {
      decodeMessage(mutate(random));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(packets / 10);
  expect(refused).toBeLessThan(packets);
});
