import { encodeName } from "./name.ts";

const initialCapacityBytes = 64;

/** Appends big-endian fields to a growing buffer. Names are not compressed (RFC 3597 section 4). */
export class Writer {
  #bytes = new Uint8Array(initialCapacityBytes);
  #length = 0;

  #reserve(count: number): number {
    const start = this.#length;
    const needed = start + count;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#length = needed;
    return start;
  }

  uint8(value: number): void {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
  }

  uint16(value: number): void {
    this.uint8(value >>> 8);
    this.uint8(value & 0xff);
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value & 0xffff);
  }

  bytes(value: Uint8Array): void {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
  }

  /** Writes a length of 16 bits before the octets. */
  sizedBytes(value: Uint8Array): void {
    this.uint16(value.length);
    this.bytes(value);
  }

  /** RFC 1035 section 3.3: one length octet, then at most 255 octets. */
  characterString(value: Uint8Array): void {
    if (value.length > 255) throw new RangeError("A character-string holds at most 255 octets");
    this.uint8(value.length);
    this.bytes(value);
  }

  name(value: string): void {
    this.bytes(encodeName(value));
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}
