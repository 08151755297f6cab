/**
 * Writes a message into a buffer that is used again for the next one. Sets of records go in whole
 * or not at all; what must have its place at the end (OPT, TSIG) is reserved beforehand.
 */
import { CompressionTable } from "./compression.ts";
import { classCodes } from "./numbers.ts";
import { nameLayout } from "./record-names.ts";
import type { RecordSet } from "./record-set.ts";

export const headerBytes = 12;
/** A length of sixteen bits goes before a message on TCP. */
export const messageBytesMax = 65_535;
/** Room for a set to run over before it is taken back: a name and the fixed fields of a record. */
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

  /** Begins a message of at most `bytesMax` octets, with `reserved` of them kept for its end. */
  begin(bytesMax: number, reserved: number): void {
    this.length = headerBytes;
    this.#limit = Math.min(bytesMax, this.bytes.length - overrunBytes) - reserved;
    this.#names.restore(0);
    this.bytes.fill(0, 0, headerBytes);
  }

  /** The reserved octets may be used from here on. */
  release(reserved: number): void {
    this.#limit += reserved;
  }

  id(id: number): void {
    this.#put16(0, id);
  }

  /** The second sixteen bits of the header. */
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

  /** False when the set does not fit; nothing of it is left then. */
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
    // Before compression: a name runs over by no more than its own length.
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
    const layout = nameLayout(type);
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
      // With 255 octets a name, the names of one record could leave the overrun otherwise.
      if (at > this.#limit) return 0;
      at = this.#names.append(this.bytes, at, data.subarray(nameStart, from));
    }
    if (at + data.length - from > this.#limit) return 0;
    this.bytes.set(data.subarray(from), at);
    return at + data.length - from;
  }

  /** A pseudo-record that is complete, its owner and all. */
  rawRecord(record: Uint8Array): boolean {
    if (this.length + record.length > this.#limit) return false;
    this.bytes.set(record, this.length);
    this.length += record.length;
    this.#count("additional", 1);
    return true;
  }
}
