/**
 * Compact denial of existence (RFC 9824): one NSEC record at the query name denies a type, a name or
 * the signature of a delegation. It covers nothing but its owner, so it tells no other names.
 *
 *     the name has no such type   the other types of the name, RRSIG, NSEC
 *     the name does not exist     RRSIG, NSEC, NXNAME
 *     an unsigned delegation      NS, RRSIG, NSEC
 */
import { concatBytes, WireError } from "../wire/bytes.ts";
import { labelBytesMax, nameWireBytesMax } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader, Writer } from "../wire/octets.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { canonicalName } from "./signature.ts";

const noNameBitmap = encodeTypeBitmap([typeCodes.RRSIG, typeCodes.NSEC, typeCodes.NXNAME]);

/** @param types of the owner, without RRSIG and NSEC; `null` when the name does not exist */
export function nsecSet(
  owner: Uint8Array,
  types: Iterable<number> | null,
  { ttlSeconds, isDelegation = false }: { ttlSeconds: number; isDelegation?: boolean },
): RecordSet {
  const next = isDelegation ? nextSibling(owner) : nextName(owner);
  const bitmap =
    types === null ? noNameBitmap : encodeTypeBitmap([...types, typeCodes.RRSIG, typeCodes.NSEC]);
  return { owner, type: typeCodes.NSEC, ttlSeconds, data: [concatBytes([next, bitmap])] };
}

/** The name after this one in canonical order: `\000` as a label below it. */
export function nextName(owner: Uint8Array): Uint8Array {
  const name = canonicalName(owner);
  // A name without room for another label has no names below it.
  if (name.length + 2 > nameWireBytesMax) return nextSibling(name);
  return concatBytes([Uint8Array.of(1, 0), name]);
}

/**
 * The name after this one and all names below it (RFC 9824 section 3.4 for delegations): a zero
 * octet at the end of the first label, or, without room for it, the next label of the same length
 * (RFC 4471 section 3.1.2).
 */
export function nextSibling(owner: Uint8Array): Uint8Array {
  const name = canonicalName(owner);
  const length = name[0]!;
  const label = name.subarray(1, 1 + length);
  const parent = name.subarray(1 + length);
  if (length === 0) return name;
  if (length < labelBytesMax && name.length < nameWireBytesMax) {
    return concatBytes([Uint8Array.of(length + 1), label, Uint8Array.of(0), parent]);
  }
  let end = length;
  while (end > 0 && label[end - 1] === 0xff) end -= 1;
  if (end === 0) return nextSibling(parent);
  const next = label.slice(0, end);
  // Upper case letters do not exist in canonical form: "[" follows "@".
  next[end - 1] = next[end - 1] === 0x40 ? 0x5b : next[end - 1]! + 1;
  return concatBytes([Uint8Array.of(end), next, parent]);
}

const windowBytesMax = 32;

/**
 * The list of types in an NSEC record (RFC 4034 section 4.1.2): windows of 256 types as bitmaps.
 *
 * @param types in any order; a type may occur several times
 */
export function encodeTypeBitmap(types: Iterable<number>): Uint8Array {
  const windows = new Map<number, number[]>();
  for (const type of [...types].toSorted((one, other) => one - other)) {
    const low = type & 0xff;
    const octets = windows.get(type >>> 8) ?? [];
    while (octets.length <= low >>> 3) octets.push(0);
    octets[low >>> 3]! |= 0x80 >>> (low & 7);
    windows.set(type >>> 8, octets);
  }
  const writer = new Writer();
  for (const [window, octets] of windows) {
    writer.uint8(window);
    writer.characterString(Uint8Array.from(octets));
  }
  return writer.finish();
}

/** Throws no error but WireError. */
export function decodeTypeBitmap(bytes: Uint8Array): number[] {
  const types: number[] = [];
  const reader = new Reader(bytes);
  let last = -1;
  while (reader.remaining > 0) {
    const window = reader.uint8();
    const octets = reader.characterString();
    if (window <= last) throw new WireError("The windows of a type bitmap are not in order");
    if (octets.length === 0 || octets.length > windowBytesMax) {
      throw new WireError("A window of a type bitmap has not 1 to 32 octets");
    }
    last = window;
    for (let low = 0; low < octets.length * 8; low++) {
      if ((octets[low >>> 3]! & (0x80 >>> (low & 7))) !== 0) types.push((window << 8) | low);
    }
  }
  return types;
}
