/**
 * Records and record sets, and the positions of names in their data. A sender may compress names
 * only in the types of RFC 1035; a receiver must decompress names in some later types as well (RFC
 * 3597 section 4). The data of all other types, and of every new type, is opaque.
 */
import { concatBytes } from "./bytes.ts";
import { Reader } from "./octets.ts";

export interface ResourceRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlSeconds: number;
  /** Octets without compressed names. */
  readonly data: Uint8Array;
}

/** All records of an owner, type and class, which are answered together (RFC 2181 section 5). */
export interface RecordSet {
  /** A full name in wire form, not compressed. */
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  /** Octets without compressed names. */
  readonly data: readonly Uint8Array[];
}

interface NameLayout {
  /** Octets before the strings and names. */
  readonly head: number;
  /** Character-strings before the first name. */
  readonly strings: number;
  readonly names: number;
  /** Whether a sender may compress the names. */
  readonly compressed: boolean;
}

const rfc1035 = { strings: 0, compressed: true };
const later = { strings: 0, compressed: false };

/** By type code. */
export const nameLayouts: ReadonlyMap<number, NameLayout> = new Map([
  [2, { ...rfc1035, head: 0, names: 1 }], // NS
  [3, { ...rfc1035, head: 0, names: 1 }], // MD
  [4, { ...rfc1035, head: 0, names: 1 }], // MF
  [5, { ...rfc1035, head: 0, names: 1 }], // CNAME
  [6, { ...rfc1035, head: 0, names: 2 }], // SOA
  [7, { ...rfc1035, head: 0, names: 1 }], // MB
  [8, { ...rfc1035, head: 0, names: 1 }], // MG
  [9, { ...rfc1035, head: 0, names: 1 }], // MR
  [12, { ...rfc1035, head: 0, names: 1 }], // PTR
  [14, { ...rfc1035, head: 0, names: 2 }], // MINFO
  [15, { ...rfc1035, head: 2, names: 1 }], // MX
  [17, { ...later, head: 0, names: 2 }], // RP
  [18, { ...later, head: 2, names: 1 }], // AFSDB
  [21, { ...later, head: 2, names: 1 }], // RT
  [24, { ...later, head: 18, names: 1 }], // SIG
  [26, { ...later, head: 2, names: 2 }], // PX
  [30, { ...later, head: 0, names: 1 }], // NXT
  [33, { ...later, head: 6, names: 1 }], // SRV
  [35, { ...later, head: 4, strings: 3, names: 1 }], // NAPTR
  [36, { ...later, head: 2, names: 1 }], // KX
  [39, { ...later, head: 0, names: 1 }], // DNAME
]);

/** The data of a record in a message, with its names decompressed. */
export function expandData(
  type: number,
  message: Uint8Array,
  start: number,
  end: number,
): Uint8Array {
  const layout = nameLayouts.get(type);
  const reader = new Reader(message, start, end);
  // RFC 2136 section 2.4: an update names a record set with a record without data.
  if (layout === undefined || reader.remaining === 0) return reader.rest();
  const parts = [reader.bytes(layout.head)];
  for (let count = 0; count < layout.strings; count++) {
    const text = reader.characterString();
    parts.push(Uint8Array.of(text.length), text);
  }
  for (let count = 0; count < layout.names; count++) parts.push(reader.nameOctets());
  parts.push(reader.rest());
  return concatBytes(parts);
}
