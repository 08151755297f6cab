/**
 * The signatures of a reply, and whether they fit: each RRSIG record is checked with the DNSKEY
 * records of its signer and with the clock. The chain of DS records above is not followed.
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { keyTagOf, keySigningFlags } from "../dnssec/zone-signing.ts";
import { decodeSignature, signatureAlgorithm, signedOctets } from "../dnssec/signature.ts";
import type { Message } from "../wire/message.ts";
import { textKey, encodeName, formatName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";

type SignatureVerdict =
  | "valid"
  | "expired"
  | "not yet valid"
  | "wrong"
  | "of an unknown key"
  | "of an algorithm that is not checked";

export interface CheckedSignature {
  readonly owner: string;
  readonly typeCovered: number;
  readonly keyTag: number;
  /** `null` when the key is unknown. */
  readonly role: "KSK" | "ZSK" | null;
  readonly signer: string;
  readonly inceptionSeconds: number;
  readonly expirationSeconds: number;
  readonly verdict: SignatureVerdict;
}

/** Flags, protocol and algorithm precede the key (RFC 4034 section 2.1). */
const keyOffset = 4;
const coordinateBytes = 32;

/**
 * @param fetchKeys resolves to the DNSKEY records of a zone
 */
export async function checkSignatures(
  { answers, authorities }: Message,
  fetchKeys: (zone: string) => Promise<readonly ResourceRecord[]>,
  nowSeconds: number,
): Promise<CheckedSignature[]> {
  const keysByZone = new Map<string, readonly ResourceRecord[]>();
  const checked: CheckedSignature[] = [];
  for (const records of [answers, authorities]) {
    for (const record of records.filter(({ type }) => type === typeCodes.RRSIG)) {
      const { fields } = decodeSignature(record.data);
      const signer = formatName(fields.signerName);
      const keys = keysByZone.get(signer) ?? (await fetchKeys(signer));
      keysByZone.set(signer, keys);
      const key = keys.find(({ data }) => keyTagOf(data) === fields.keyTag);
      const { typeCovered, inceptionSeconds, expirationSeconds } = fields;
      checked.push({
        owner: record.name,
        typeCovered,
        keyTag: fields.keyTag,
        role: key === undefined ? null : roleOf(key.data),
        signer,
        inceptionSeconds,
        expirationSeconds,
        verdict: judge(record, records, key?.data, nowSeconds),
      });
    }
  }
  return checked;
}

function roleOf(dnskey: Uint8Array): "KSK" | "ZSK" {
  return ((dnskey[0]! << 8) | dnskey[1]!) === keySigningFlags ? "KSK" : "ZSK";
}

function judge(
  record: ResourceRecord,
  section: readonly ResourceRecord[],
  dnskey: Uint8Array | undefined,
  nowSeconds: number,
): SignatureVerdict {
  const { fields, signature } = decodeSignature(record.data);
  if (dnskey === undefined) return "of an unknown key";
  if (fields.algorithm !== signatureAlgorithm) return "of an algorithm that is not checked";
  const owner = textKey(record.name);
  const data = section
    .filter(({ name, type }) => type === fields.typeCovered && textKey(name) === owner)
    .map((each) => each.data);
  const set = { owner: encodeName(record.name), type: fields.typeCovered, data };
  const encoding = { key: readKey(dnskey), dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signedOctets(set, fields), encoding, signature)) return "wrong";
  if (nowSeconds < fields.inceptionSeconds) return "not yet valid";
  return nowSeconds < fields.expirationSeconds ? "valid" : "expired";
}

function readKey(dnskey: Uint8Array): KeyObject {
  const text = (from: number) =>
    Buffer.from(dnskey.subarray(from, from + coordinateBytes)).toString("base64url");
  const [x, y] = [text(keyOffset), text(keyOffset + coordinateBytes)];
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
}
