/**
 * Writes one message after another into the same buffer. A record set is written whole or not at
 * all. The caller reserves room for the records at the end of a message (OPT, TSIG).
 */
import { CompressionTable } from "./compression.ts";
import { classCodes } from "./numbers.ts";
import { nameLayouts } from "./rdata-names.ts";
import type { RecordSet } from "./resource-record.ts";

export const headerBytes = 12;
/** TCP frames a message with a length of 16 bits. */
export const messageBytesMax = 65_535;
/** Room past the limit: a name and the fixed fields of a record precede the check. */
const overrunBytes = 512;

export type Section = "answer" | "authority" | "additional";
const countOffsets = { question: 4, answer: 6, authority: 8, additional: 10 } as const;

export class MessageWriter {
  readonly bytes: Uint8Array;
  length = headerBytes;
  #limit: number;
  readonly #names = new CompressionTable();

  constructor(capacityBytes = messageBytesMax) {
    this.bytes = new Uint8Array(capacityBytes + overrunBytes);
    this.#limit = capacityBytes;
  }

  /** Begins a message of at most `bytesMax` octets, with `reserved` of them kept for the end. */
  begin(bytesMax: number, reserved: number): void {
    this.length = headerBytes;
    this.#limit = Math.min(bytesMax, this.bytes.length - overrunBytes) - reserved;
    this.#names.restore(0);
    this.bytes.fill(0, 0, headerBytes);
  }

  /** Makes the reserved octets available. */
  release(reserved: number): void {
    this.#limit += reserved;
  }

  id(id: number): void {
    this.#put16(0, id);
  }

  /** Writes the second 16 bits of the header. */
  flags(flags: number): void {
    this.#put16(2, flags);
  }

  #put16(at: number, value: number): void {
    this.bytes[at] = value >>> 8;
    this.bytes[at + 1] = value & 0xff;
  }

  #count(section: keyof typeof countOffsets, more: number): void {
    const at = countOffsets[section];
    this.#put16(at, ((this.bytes[at]! << 8) | this.bytes[at + 1]!) + more);
  }

  question(name: Uint8Array, type: number, questionClass: number): boolean {
    const { length } = this;
    if (length + name.length + 4 > this.#limit) return false;
    const at = this.#names.append(this.bytes, length, name);
    this.#put16(at, type);
    this.#put16(at + 2, questionClass);
    this.length = at + 4;
    this.#count("question", 1);
    return true;
  }

  /** Returns false, and leaves the message unchanged, when the set does not fit. */
  recordSet(section: Section, set: RecordSet, recordClass: number = classCodes.IN): boolean {
    const { length } = this;
    const names = this.#names.count;
    for (const data of set.data) {
      if (!this.#record(set, recordClass, data)) {
        this.length = length;
        this.#names.restore(names);
        return false;
      }
    }
    this.#count(section, set.data.length);
    return true;
  }

  #record({ owner, type, ttlSeconds }: RecordSet, recordClass: number, data: Uint8Array): boolean {
    // The owner may pass the limit; `overrunBytes` has room for a name without compression.
    if (this.length > this.#limit) return false;
    const at = this.#names.append(this.bytes, this.length, owner);
    this.#put16(at, type);
    this.#put16(at + 2, recordClass);
    this.#put16(at + 4, ttlSeconds >>> 16);
    this.#put16(at + 6, ttlSeconds & 0xffff);
    const start = at + 10;
    const end = this.#data(type, data, start);
    if (end === 0 || end > this.#limit) return false;
    this.#put16(at + 8, end - start);
    this.length = end;
    return true;
  }

  #data(type: number, data: Uint8Array, start: number): number {
    const layout = nameLayouts.get(type);
    if (layout === undefined || !layout.compressed || data.length === 0) {
      if (start + data.length > this.#limit) return 0;
      this.bytes.set(data, start);
      return start + data.length;
    }
    let from = layout.head;
    this.bytes.set(data.subarray(0, from), start);
    let at = start + from;
    for (let count = 0; count < layout.names; count++) {
      const nameStart = from;
      while (data[from]! > 0) from += data[from]! + 1;
      from += 1;
      // Two names of 255 octets would not fit in `overrunBytes`, so each name is checked.
      if (at > this.#limit) return 0;
      at = this.#names.append(this.bytes, at, data.subarray(nameStart, from));
    }
    if (at + data.length - from > this.#limit) return 0;
    this.bytes.set(data.subarray(from), at);
    return at + data.length - from;
  }

  /** Appends a complete pseudo-record, owner included. */
  rawRecord(record: Uint8Array): boolean {
    if (this.length + record.length > this.#limit) return false;
    this.bytes.set(record, this.length);
    this.length += record.length;
    this.#count("additional", 1);
    return true;
  }
}
