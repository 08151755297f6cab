/**
 * An RRSIG record (RFC 4034 section 3) and the octets that it signs: its own data without the
 * signature, then each record of the set in canonical form and order (sections 3.1.8.1 and 6): names
 * without compression and in lower case, the records of a set in the order of their octets.
 */
import { concatBytes } from "../wire/bytes.ts";
import { lowerCase } from "../wire/name.ts";
import { classCodes } from "../wire/numbers.ts";
import { Reader, Writer } from "../wire/octets.ts";
import { nameLayouts, type RecordSet } from "../wire/resource-record.ts";

/** ECDSAP256SHA256 (RFC 6605): the algorithm of every key that Ledge makes. */
export const signatureAlgorithm = 13;

/** The numbers of an RRSIG record in wire order; the name of the signer follows. */
const numberForms = {
  typeCovered: "uint16",
  algorithm: "uint8",
  labels: "uint8",
  originalTtlSeconds: "uint32",
  expirationSeconds: "uint32",
  inceptionSeconds: "uint32",
  keyTag: "uint16",
} as const;
type NumberName = keyof typeof numberForms;
const numbers = Object.entries(numberForms) as [NumberName, (typeof numberForms)[NumberName]][];

export interface SignatureFields extends Readonly<Record<NumberName, number>> {
  readonly signerName: Uint8Array;
}

/** Section 3.1.3: without the root and without the asterisk of a wildcard. */
export function labelCount(owner: Uint8Array): number {
  let labels = 0;
  for (let at = 0; owner[at]! > 0; at += owner[at]! + 1) labels += 1;
  const isWildcard = owner[0] === 1 && owner[1] === 0x2a;
  return isWildcard ? labels - 1 : labels;
}

export function encodeSignatureFields(fields: SignatureFields): Uint8Array {
  const writer = new Writer();
  for (const [name, form] of numbers) writer[form](fields[name]);
  writer.bytes(canonicalName(fields.signerName));
  return writer.finish();
}

/** Throws WireError when the data is malformed. */
export function decodeSignature(data: Uint8Array): {
  readonly fields: SignatureFields;
  readonly signature: Uint8Array;
} {
  const reader = new Reader(data);
  const values = Object.fromEntries(numbers.map(([name, form]) => [name, reader[form]()]));
  const fields = { ...(values as Record<NumberName, number>), signerName: reader.nameOctets() };
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

/** Length octets are below 64 and thus not letters: the table leaves them unchanged. */
export function canonicalName(name: Uint8Array): Uint8Array {
  const canonical = new Uint8Array(name.length);
  for (let at = 0; at < name.length; at++) canonical[at] = lowerCase[name[at]!]!;
  return canonical;
}

/**
 * Section 6.2: the names in the data of certain types are in lower case. RFC 6840 section 5.1 takes
 * NSEC and RRSIG from that list; the other types are those whose names a receiver decompresses.
 */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  const layout = nameLayouts.get(type);
  if (layout === undefined) return data;
  const canonical = Uint8Array.from(data);
  let at = layout.head;
  for (let count = 0; count < layout.strings; count++) at += data[at]! + 1;
  for (let count = 0; count < layout.names; count++) {
    const start = at;
    while (data[at]! > 0) at += data[at]! + 1;
    at += 1;
    canonical.set(canonicalName(data.subarray(start, at)), start);
  }
  return canonical;
}

/** Section 6.3: as strings of octets without sign; a string precedes the strings that it begins. */
export function compareOctets(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    if (one[at] !== other[at]) return one[at]! - other[at]!;
  }
  return one.length - other.length;
}

/** The records of a set as they are signed: in canonical order, equal records once. */
export function canonicalSet(type: number, data: readonly Uint8Array[]): Uint8Array[] {
  return data
    .map((each) => canonicalData(type, each))
    .toSorted(compareOctets)
    .filter((each, at, all) => at === 0 || compareOctets(each, all[at - 1]!) !== 0);
}
