import { NAME_WIRE_BYTES_MAX, escapeLabel } from "./name.ts";
import { WireError } from "./wire-error.ts";

/**
 * Reads big-endian fields from a message. A reader sees the octets from `offset` to `end`, while
 * compression pointers (RFC 1035 section 4.1.4) may go anywhere before the name that holds them.
 */
export class Reader {
  readonly #message: Uint8Array;
  #offset: number;
  readonly #end: number;

  constructor(message: Uint8Array, offset = 0, end = message.length) {
    if (offset < 0 || end > message.length || offset > end) {
      throw new WireError("The range lies outside the message");
    }
    this.#message = message;
    this.#offset = offset;
    this.#end = end;
  }

  get remaining(): number {
    return this.#end - this.#offset;
  }

  uint8(): number {
    const value = this.#message[this.#offset];
    if (value === undefined || this.#offset >= this.#end) throw new WireError("Unexpected end");
    this.#offset += 1;
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
    const value = this.#message.slice(this.#offset, this.#offset + count);
    this.#offset += count;
    return value;
  }

  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  characterString(): Uint8Array {
    return this.bytes(this.uint8());
  }

  /** A name in presentation form without the final dot; the root is ".". */
  name(): string {
    const labels: string[] = [];
    let wireLength = 1;
    // Each pointer must go backwards, so that a loop is impossible.
    let pointerLimit = this.#offset;
    let cursor = this.#offset;
    let jumped = false;
    for (;;) {
      const length = this.#message[cursor];
      if (length === undefined || (!jumped && cursor >= this.#end)) {
        throw new WireError("A name runs past the end");
      }
      cursor += 1;
      if (length >= 0xc0) {
        const low = this.#message[cursor];
        if (low === undefined) throw new WireError("A name runs past the end");
        const target = ((length & 0x3f) << 8) | low;
        if (!jumped) this.#offset = cursor + 1;
        jumped = true;
        if (target >= pointerLimit) throw new WireError("A compression pointer goes forward");
        pointerLimit = target;
        cursor = target;
        continue;
      }
      if (length >= 0x40) throw new WireError("Unknown label type");
      if (length === 0) break;
      const label = this.#message.subarray(cursor, cursor + length);
      if (label.length < length || (!jumped && cursor + length > this.#end)) {
        throw new WireError("A label runs past the end");
      }
      wireLength += length + 1;
      if (wireLength > NAME_WIRE_BYTES_MAX) throw new WireError("A name is longer than 255 octets");
      labels.push(escapeLabel(label));
      cursor += length;
    }
    if (!jumped) this.#offset = cursor;
    if (this.#offset > this.#end) throw new WireError("A name runs past the end");
    return labels.length === 0 ? "." : labels.join(".");
  }

  /** Rdata must be used up to its last octet. */
  expectEnd(): void {
    if (this.remaining > 0) throw new WireError(`${this.remaining} octets are left over`);
  }
}
