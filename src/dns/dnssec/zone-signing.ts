/**
 * What a signed zone has: a key that signs the keys (KSK) and a key that signs all other sets (ZSK),
 * both of algorithm 13, and the digest of the first for DS and CDS. The zone object makes them
 * once; turning DNSSEC off and on again keeps them, so that the DS record of the parent stays valid.
 * During a roll (`key-roll.ts`) the zone has two pairs.
 */
import { decodeHex } from "../../base/hex.ts";
import { concatBytes, decodeBase64 } from "../wire/bytes.ts";
import { textKey, type NameKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { canonicalName, signatureAlgorithm } from "./signature.ts";

/** RFC 4034 section 2.1.1: the bits Zone Key, and Secure Entry Point. */
export const zoneKeyFlags = 256;
export const keySigningFlags = 257;
const keyProtocol = 3;
/** SHA-256 (RFC 4509). */
export const digestType = 2;
/** As long as the TTL of the deployed service. */
export const keyTtlSeconds = 3600;

export interface SigningKey {
  readonly flags: typeof zoneKeyFlags | typeof keySigningFlags;
  readonly keyTag: number;
  /** The point as 64 octets (RFC 6605 section 4), in base64. */
  readonly publicKey: string;
  /** The private key as JWK, which Node and WebCrypto read. */
  readonly privateKey: Readonly<Record<"kty" | "crv" | "x" | "y" | "d", string>>;
}

export interface KeyPair {
  /** Signs DNSKEY, CDS and CDNSKEY. */
  readonly keySigningKey: SigningKey;
  /** Signs all other sets. */
  readonly zoneSigningKey: SigningKey;
  readonly digest: string;
}

/** The replacement of a pair by the next; a pair may keep one of the two keys. */
export interface KeyRoll {
  readonly next: KeyPair;
  readonly startSeconds: number;
  /** Since when the parent has the DS record of the next pair; `null`: not yet. */
  readonly dsSeconds: number | null;
  /** The length of each wait, in place of the time that caches need; `null`: as caches need. */
  readonly paceSeconds: number | null;
}

export interface ZoneKeys extends KeyPair {
  readonly roll?: KeyRoll;
}

/** As a zone publishes it to its servers. */
export interface ZoneSigning extends ZoneKeys {
  readonly faults: readonly SignatureFault[];
}

/** The keys from a time until another time. */
export interface KeysInUse {
  readonly published: readonly SigningKey[];
  readonly keySigningKeys: readonly SigningKey[];
  readonly zoneSigningKeys: readonly SigningKey[];
  /** The pair for which the parent is to have the DS record. */
  readonly announced: KeyPair;
  readonly keyTtlSeconds: number;
  readonly fromSeconds: number;
  readonly untilSeconds: number;
}

/** What a server signs with now. */
export interface CurrentSigning extends KeysInUse {
  readonly faults: readonly SignatureFault[];
}

export function dnskeyData({ flags, publicKey }: Pick<SigningKey, "flags" | "publicKey">) {
  const head = Uint8Array.of(flags >>> 8, flags & 0xff, keyProtocol, signatureAlgorithm);
  return concatBytes([head, decodeBase64(publicKey)!]);
}

/** RFC 4034 appendix B, for every algorithm but 1. @param data the data of a DNSKEY record */
export function keyTagOf(data: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < data.length; at++) sum += at % 2 === 0 ? data[at]! << 8 : data[at]!;
  return (sum + (sum >>> 16)) & 0xffff;
}

/** The octets whose SHA-256 is the digest of a DS record (RFC 4034 section 5.1.4). */
export function digestedOctets(apex: Uint8Array, dnskey: Uint8Array): Uint8Array {
  return concatBytes([canonicalName(apex), dnskey]);
}

export function dsData({ keySigningKey, digest }: KeyPair): Uint8Array {
  const { keyTag } = keySigningKey;
  const head = Uint8Array.of(keyTag >>> 8, keyTag & 0xff, signatureAlgorithm, digestType);
  return concatBytes([head, decodeHex(digest)!]);
}

/** The sets that DNSSEC adds to the apex. CDS and CDNSKEY tell a parent its DS set (RFC 7344). */
export function keySets(owner: Uint8Array, keys: KeysInUse): readonly RecordSet[] {
  const { published, announced, keyTtlSeconds: ttlSeconds } = keys;
  return [
    { owner, type: typeCodes.DNSKEY, ttlSeconds, data: published.map(dnskeyData) },
    { owner, type: typeCodes.CDS, ttlSeconds, data: [dsData(announced)] },
    { owner, type: typeCodes.CDNSKEY, ttlSeconds, data: [dnskeyData(announced.keySigningKey)] },
  ];
}

const typesOfKeySigningKey = new Set<number>([typeCodes.DNSKEY, typeCodes.CDS, typeCodes.CDNSKEY]);

export function keysFor(type: number, keys: KeysInUse): readonly SigningKey[] {
  return typesOfKeySigningKey.has(type) ? keys.keySigningKeys : keys.zoneSigningKeys;
}

/**
 * Signatures that tests break on purpose. A fault is plain data that is published with its zone, so
 * every server of the zone gives the same broken answers.
 *
 *     expired_signature   the window of the signatures has ended
 *     wrong_signature     the signatures do not belong to the records
 *     missing_ds          the DS set of a delegation is left out, and no NSEC record denies it
 */
export const signatureFaultKinds = ["expired_signature", "wrong_signature", "missing_ds"] as const;
export type SignatureFaultKind = (typeof signatureFaultKinds)[number];

export interface SignatureFault {
  readonly kind: SignatureFaultKind;
  /** The owner of the sets; `null` for all names of the zone. */
  readonly name: string | null;
}

export function hasFault(
  faults: readonly SignatureFault[],
  kind: SignatureFaultKind,
  owner: NameKey,
): boolean {
  return faults.some(
    (fault) => fault.kind === kind && (fault.name === null || textKey(fault.name) === owner),
  );
}
