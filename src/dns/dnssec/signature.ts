/**
 * An RRSIG record (RFC 4034 section 3) and the octets that it signs: its own data without the
 * signature, then each record of the set in canonical form and order (section 3.1.8.1).
 */
import { concatBytes } from "../wire/bytes.ts";
import { classCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/reader.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { Writer } from "../wire/writer.ts";
import { canonicalName, canonicalSet } from "./canonical-form.ts";

/** ECDSAP256SHA256 (RFC 6605): the algorithm of every key that Ledge makes. */
export const signatureAlgorithm = 13;

export interface SignatureFields {
  readonly typeCovered: number;
  readonly algorithm: number;
  readonly labels: number;
  readonly originalTtlSeconds: number;
  readonly expirationSeconds: number;
  readonly inceptionSeconds: number;
  readonly keyTag: number;
  /** The apex of the zone. */
  readonly signerName: Uint8Array;
}

/** Section 3.1.3: without the root and without the asterisk of a wildcard. */
export function labelCount(owner: Uint8Array): number {
  let labels = 0;
  for (let at = 0; owner[at]! > 0; at += owner[at]! + 1) labels += 1;
  const isWildcard = owner[0] === 1 && owner[1] === 0x2a;
  return isWildcard ? labels - 1 : labels;
}

/** The data of an RRSIG record up to the signature. */
export function encodeSignatureFields(fields: SignatureFields): Uint8Array {
  const writer = new Writer();
  writer.uint16(fields.typeCovered);
  writer.uint8(fields.algorithm);
  writer.uint8(fields.labels);
  writer.uint32(fields.originalTtlSeconds);
  writer.uint32(fields.expirationSeconds);
  writer.uint32(fields.inceptionSeconds);
  writer.uint16(fields.keyTag);
  writer.bytes(canonicalName(fields.signerName));
  return writer.finish();
}

/** Throws WireError when the data is malformed. */
export function decodeSignature(data: Uint8Array): {
  readonly fields: SignatureFields;
  readonly signature: Uint8Array;
} {
  const reader = new Reader(data);
  const fields = {
    typeCovered: reader.uint16(),
    algorithm: reader.uint8(),
    labels: reader.uint8(),
    originalTtlSeconds: reader.uint32(),
    expirationSeconds: reader.uint32(),
    inceptionSeconds: reader.uint32(),
    keyTag: reader.uint16(),
    signerName: reader.nameOctets(),
  };
  return { fields, signature: reader.rest() };
}

/**
 * The octets that a signature covers. Section 5.3.2 of RFC 4035: an owner with more labels than
 * the signature counts comes from a wildcard, and the wildcard was signed.
 */
export function signedOctets(
  set: Pick<RecordSet, "owner" | "type" | "data">,
  fields: SignatureFields,
): Uint8Array {
  const owner = signedOwner(canonicalName(set.owner), fields.labels);
  const head = new Writer();
  head.bytes(owner);
  head.uint16(set.type);
  head.uint16(classCodes.IN);
  head.uint32(fields.originalTtlSeconds);
  const recordHead = head.finish();
  const parts = [encodeSignatureFields(fields)];
  for (const data of canonicalSet(set.type, set.data)) {
    parts.push(recordHead, Uint8Array.of(data.length >>> 8, data.length & 0xff), data);
  }
  return concatBytes(parts);
}

function signedOwner(owner: Uint8Array, labels: number): Uint8Array {
  let surplus = labelCount(owner) - labels;
  if (surplus <= 0) return owner;
  let at = 0;
  for (; surplus > 0; surplus--) at += owner[at]! + 1;
  return concatBytes([Uint8Array.of(1, 0x2a), owner.subarray(at)]);
}
