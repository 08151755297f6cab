/** Signed zones, and the check of the signatures in a response by Node's crypto. */
import { createPublicKey, verify } from "node:crypto";
import { AnswerSigner } from "../../../src/dns/dnssec/answer-signer.ts";
import {
  keyTagOf,
  type SignatureFault,
  type ZoneSigning,
} from "../../../src/dns/dnssec/zone-signing.ts";
import { decodeSignature, signedOctets } from "../../../src/dns/dnssec/signature.ts";
import { formatData, typeName } from "../../../src/dns/record/presentation.ts";
import type { ResponderOptions } from "../../../src/dns/answer/responder.ts";
import { ServedZones } from "../../../src/dns/answer/served-zones.ts";
import { signRecordSet } from "../../../src/dns/server/query-handler.ts";
import type { Message } from "../../../src/dns/wire/message.ts";
import { encodeName, formatName } from "../../../src/dns/wire/name.ts";
import { rcodeName, typeCodes } from "../../../src/dns/wire/numbers.ts";
import type { ResourceRecord } from "../../../src/dns/wire/resource-record.ts";
import { makeZoneKeys } from "../../../worker/objects/zone-keys.ts";
import { composeQuery, plainEdns, respondFrom, udp } from "./query.ts";
import { readRecords, zoneData } from "./served.ts";

/** A time for tests without a server. */
export const signedNow = 1_800_000_000;
export const dnssecOk = { edns: { ...plainEdns, dnssecOk: true } };

/** A zone with each kind of answer. */
export const signedText = `
  @          300 A     192.0.2.1
  @          300 MX    10 Mail
  www        300 A     192.0.2.2
  www        300 A     192.0.2.1
  alias      300 CNAME www
  gone       300 CNAME nothing
  away       300 CNAME www.example.net.
  deep.below 300 TXT   "text"
  *.wild     300 A     192.0.2.3
  proxied    1   A     192.0.2.4 ; cf_tags=cf-proxied:true
  flat       300 CNAME www ; cf_tags=cf-flatten-cname:true
  flat-none  300 CNAME deep.below ; cf_tags=cf-flatten-cname:true
  signed     300 NS    ns1.signed
  signed     300 DS    1 13 2 ${"ab".repeat(32)}
  ns1.signed 300 A     192.0.2.53
  unsigned   300 NS    ns.example.net.
`;

export function nodeSigner(): AnswerSigner {
  return new AnswerSigner({ sign: signRecordSet });
}

export async function makeSigning(
  zoneName: string,
  faults: readonly SignatureFault[] = [],
): Promise<ZoneSigning> {
  return { ...(await makeZoneKeys(zoneName)), faults };
}

/** Zones from text; those in `signed` have keys. */
export async function serveSigned(
  texts: Readonly<Record<string, string>>,
  signed: readonly string[] = Object.keys(texts),
  faults: readonly SignatureFault[] = [],
): Promise<ServedZones> {
  const zones = new ServedZones({ platformAddresses: ["198.18.0.1", "2001:2::1"] });
  for (const [name, text] of Object.entries(texts)) {
    const signing = signed.includes(name) ? await makeSigning(name, faults) : undefined;
    zones.put(zoneData(name, readRecords(name, text), { signing }));
  }
  return zones;
}

interface CheckedSet {
  /** The owner and the type. */
  readonly set: string;
  readonly verdict: "valid" | "wrong" | "expired" | "unsigned";
  /** The labels that the signature counts. */
  readonly labels: number | null;
}

/**
 * Checks each set of the answer and authority sections by the DNSKEY records of its zone.
 *
 * @param keys DNSKEY records of all zones
 */
export function checkSignatures(
  { answers, authorities }: Message,
  keys: readonly ResourceRecord[],
  nowSeconds: number,
): CheckedSet[] {
  const records = [...answers, ...authorities];
  const sets = new Map<string, ResourceRecord[]>();
  for (const record of records) {
    if (record.type === typeCodes.RRSIG) continue;
    const id = `${record.name.toLowerCase()} ${typeName(record.type)}`;
    sets.set(id, [...(sets.get(id) ?? []), record]);
  }
  return [...sets].map(([set, members]) => {
    const { name, type } = members[0]!;
    const found = records
      .filter((each) => each.type === typeCodes.RRSIG && each.name === name)
      .map(({ data }) => decodeSignature(data))
      .find(({ fields }) => fields.typeCovered === type);
    if (found === undefined) return { set, verdict: "unsigned", labels: null };
    const { fields, signature } = found;
    const { labels } = fields;
    const signer = formatName(fields.signerName);
    const key = keys.find((each) => each.name === signer && keyTagOf(each.data) === fields.keyTag);
    const data = members.map((member) => member.data);
    // RFC 4035 section 2.2: the TTL of a set is not above the signed TTL.
    if (members.some(({ ttlSeconds }) => ttlSeconds > fields.originalTtlSeconds)) {
      return { set, verdict: "wrong", labels };
    }
    const octets = signedOctets({ owner: encodeName(name), type, data }, fields);
    if (key === undefined || !isSignedBy(key.data, octets, signature)) {
      return { set, verdict: "wrong", labels };
    }
    const isCurrent =
      fields.inceptionSeconds <= nowSeconds && nowSeconds < fields.expirationSeconds;
    return { set, verdict: isCurrent ? "valid" : "expired", labels };
  });
}

function isSignedBy(dnskey: Uint8Array, octets: Uint8Array, signature: Uint8Array): boolean {
  const [x, y] = [dnskey.subarray(4, 36), dnskey.subarray(36)].map((half) =>
    Buffer.from(half).toString("base64url"),
  );
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
  return verify("sha256", octets, { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** Asks with DO, over UDP. */
export function askSigned(zones: ServedZones, options: Partial<ResponderOptions> = {}) {
  const { ask } = respondFrom(zones, { signer: nodeSigner(), ...options });
  return (question: string, changes: Partial<Message> = dnssecOk, source = udp, at = signedNow) =>
    ask(composeQuery(question, changes), source, at);
}

const lines = (section: string, records: readonly ResourceRecord[]) =>
  records
    .filter(({ type }) => type !== typeCodes.RRSIG)
    .map(({ name, type, data }) => {
      const text = type === typeCodes.SOA ? "" : ` ${formatData(type, data)}`;
      return `${section} ${name} ${typeName(type)}${text}`;
    });

/** One line for the RCODE, and one line for each record but RRSIG. */
export function describeRecords(message: Message): string[] {
  return [
    rcodeName(message.rcode),
    ...lines("answer", message.answers),
    ...lines("authority", message.authorities),
  ];
}
