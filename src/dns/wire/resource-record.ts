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

const layouts = [
  // RFC 1035: NS, MD, MF, CNAME, MB, MG, MR, PTR; SOA, MINFO; MX.
  { types: [2, 3, 4, 5, 7, 8, 9, 12], head: 0, strings: 0, names: 1, compressed: true },
  { types: [6, 14], head: 0, strings: 0, names: 2, compressed: true },
  { types: [15], head: 2, strings: 0, names: 1, compressed: true },
  // Later types: NXT, DNAME; RP; AFSDB, RT, KX; PX; SRV; SIG; NAPTR.
  { types: [30, 39], head: 0, strings: 0, names: 1, compressed: false },
  { types: [17], head: 0, strings: 0, names: 2, compressed: false },
  { types: [18, 21, 36], head: 2, strings: 0, names: 1, compressed: false },
  { types: [26], head: 2, strings: 0, names: 2, compressed: false },
  { types: [33], head: 6, strings: 0, names: 1, compressed: false },
  { types: [24], head: 18, strings: 0, names: 1, compressed: false },
  { types: [35], head: 4, strings: 3, names: 1, compressed: false },
];

/** By type code. */
export const nameLayouts: ReadonlyMap<number, NameLayout> = new Map(
  layouts.flatMap(({ types, ...layout }) => types.map((type) => [type, layout] as const)),
);

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
