/** Any question: an answer with proofs agrees with the answer without, and every proof is valid. */
import * as fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { nameArbitrary } from "../../../test/dns/support/name-arbitrary.ts";
import { plainEdns } from "../../../test/dns/support/query.ts";
import {
  askSigned,
  checkSignatures,
  nodeSigner,
  serveSigned,
  signedNow,
  signedText,
} from "../../../test/dns/support/signed-zone.ts";
import { decodeTypeBitmap } from "../dnssec/nsec.ts";
import type { Message } from "../wire/message.ts";
import { formatName } from "../wire/name.ts";
import { isMetaType, rcodes, typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/octets.ts";

const own =
  "www alias gone deep.below below x.wild a.b.wild *.wild proxied flat flat-none signed www.signed unsigned a.unsigned";
const names = ["example.org", ...own.split(" ").map((name) => `${name}.example.org`)];
const commonTypes = [1, 2, 5, 6, 15, 16, 28, 43, 48, 59, 60, 65];
const examples = names.flatMap((name) =>
  commonTypes.map((type): [{ name: string; type: number }] => [{ name, type }]),
);
const questions = fc.record({
  name: fc.oneof(
    fc.constantFrom(...names),
    nameArbitrary
      .filter(({ length }) => length > 1 && length < 230)
      .map((name) => `${formatName(name)}.example.org`),
  ),
  type: fc
    .oneof(fc.constantFrom(...commonTypes), fc.integer({ min: 1, max: 65_535 }))
    .filter((type) => !isMetaType(type) && type !== typeCodes.RRSIG && type !== typeCodes.NSEC),
});

let ask: ReturnType<typeof askSigned>;
let keys: Message["answers"];
beforeAll(async () => {
  const signer = nodeSigner();
  ask = askSigned(await serveSigned({ "example.org": signedText }), { signer });
  keys = ask("example.org DNSKEY").answers;
});

const ofProofs = new Set<number>([typeCodes.RRSIG, typeCodes.NSEC]);
const isPlain = ({ type }: { type: number }) => !ofProofs.has(type);

/** The types that the NSEC records of a message list. */
function listedTypes({ authorities }: Message): number[] {
  return authorities
    .filter(({ type }) => type === typeCodes.NSEC)
    .flatMap(({ data }) => {
      const reader = new Reader(data);
      reader.nameOctets();
      return decodeTypeBitmap(reader.rest());
    });
}

it("answer() for a query with DO adds valid proofs, and nothing else", () => {
  fc.assert(
    fc.property(questions, ({ name, type }) => {
      const question = `${name} TYPE${type}`;
      const plain = ask(question, { edns: { ...plainEdns, udpBytesMax: 4096 } });
      const signed = ask(question);
      expect(signed.answers.filter(isPlain)).toEqual(plain.answers);
      const authorities = signed.authorities.filter(isPlain);
      // A referral has the DS set too.
      expect(authorities.filter((each) => each.type !== typeCodes.DS)).toEqual(plain.authorities);
      const isReferral = !plain.authoritative;
      const verdicts = checkSignatures(signed, keys, signedNow);
      // The NS set of a referral belongs to the child.
      const isExempt = (set: string) => isReferral && set.endsWith(" NS");
      expect(
        verdicts.filter(({ set, verdict }) => (verdict === "valid") === isExempt(set)),
      ).toEqual([]);
      const listed = listedTypes(signed);
      expect(listed).not.toContain(isReferral ? typeCodes.DS : type);
      expect(listed.includes(typeCodes.NXNAME)).toBe(plain.rcode === rcodes.NXDOMAIN);
      expect(signed.rcode).toBe(rcodes.NOERROR);
    }),
    { numRuns: examples.length + 150, examples },
  );
});
