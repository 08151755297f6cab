/** Reading and writing the fields of messages and of record data, octet by octet. */
import { characterStringBytesMax, WireError } from "./bytes.ts";
import { encodeName, formatName, nameWireBytesMax } from "./name.ts";

/** A name has at most 127 labels; no reasonable encoder writes more pointers than labels. */
const pointersMax = 127;

/**
 * Reads big-endian fields from the octets of a message between `offset` and `end`. Compression
 * pointers (RFC 1035 section 4.1.4) may lead to any earlier offset of the message.
 */
export class Reader {
  readonly #message: Uint8Array;
  offset: number;
  readonly #end: number;

  constructor(message: Uint8Array, offset = 0, end = message.length) {
    if (offset < 0 || end > message.length || offset > end) {
      throw new WireError("The range lies outside the message");
    }
    this.#message = message;
    this.offset = offset;
    this.#end = end;
  }

  get remaining(): number {
    return this.#end - this.offset;
  }

  uint8(): number {
    const value = this.#message[this.offset];
    if (value === undefined || this.offset >= this.#end) throw new WireError("Unexpected end");
    this.offset += 1;
    return value;
  }

  uint16(): number {
    return (this.uint8() << 8) | this.uint8();
  }

  uint32(): number {
    return this.uint16() * 0x1_0000 + this.uint16();
  }

  bytes(count: number): Uint8Array {
    if (count > this.remaining) throw new WireError("Unexpected end");
    const value = this.#message.slice(this.offset, this.offset + count);
    this.offset += count;
    return value;
  }

  skip(count: number): void {
    if (count > this.remaining) throw new WireError("Unexpected end");
    this.offset += count;
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  characterString(): Uint8Array {
    return this.bytes(this.uint8());
  }

  /** A name in presentation form without the final dot; the root is ".". */
  name(): string {
    return formatName(this.nameOctets());
  }

  /** A name in wire form, decompressed. */
  nameOctets(): Uint8Array {
    const name = new Uint8Array(nameWireBytesMax);
    let length = 0;
    let hops = 0;
    let pointerLimit = this.offset;
    let cursor = this.offset;
    // The part before the first pointer must end inside this reader's range.
    let end = this.#end;
    for (;;) {
      const labelLength = this.#message[cursor];
      if (labelLength === undefined || cursor >= end)
        throw new WireError("A name runs past the end");
      if (labelLength >= 0xc0) {
        const low = this.#message[cursor + 1];
        if (low === undefined || cursor + 1 >= end) throw new WireError("A name runs past the end");
        if (hops === 0) this.offset = cursor + 2;
        hops += 1;
        if (hops > pointersMax) throw new WireError("A name has too many compression pointers");
        cursor = ((labelLength & 0x3f) << 8) | low;
        // Each pointer must lead further back, so that a loop is impossible.
        if (cursor >= pointerLimit) throw new WireError("A compression pointer goes forward");
        pointerLimit = cursor;
        end = this.#message.length;
        continue;
      }
      if (labelLength >= 0x40) throw new WireError("Unknown label type");
      const next = cursor + labelLength + 1;
      if (next > end) throw new WireError("A label runs past the end");
      if (length + labelLength + 1 > nameWireBytesMax) {
        throw new WireError("A name is longer than 255 octets");
      }
      for (; cursor < next; cursor++) name[length++] = this.#message[cursor]!;
      if (labelLength === 0) break;
    }
    if (hops === 0) this.offset = cursor;
    return name.slice(0, length);
  }

  expectEnd(): void {
    if (this.remaining > 0) throw new WireError(`${this.remaining} octets are left over`);
  }
}

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
    if (value.length > characterStringBytesMax)
      throw new RangeError("A character-string holds at most 255 octets");
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
