/** The list of types in an NSEC record (RFC 4034 section 4.1.2): windows of 256 types as bitmaps. */
import { Reader } from "../wire/reader.ts";
import { WireError } from "../wire/bytes.ts";
import { Writer } from "../wire/writer.ts";

const windowBytesMax = 32;

/** @param types in any order; a type may occur several times */
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
