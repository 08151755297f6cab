/** Writes one message after another into the same buffer. A record set is written whole or not at all. */
import { lowerCase, nameWireBytesMax } from "./name.ts";
import { classCodes } from "./numbers.ts";
import { nameLayouts, type RecordSet } from "./resource-record.ts";

export const headerBytes = 12;
/** TCP frames a message with a length of 16 bits. */
export const messageBytesMax = 65_535;
/** Room past the limit: a name and the fixed fields of a record precede the check. */
const overrunBytes = 512;

export type Section = "answer" | "authority" | "additional";
const countOffsets = { question: 4, answer: 6, authority: 8, additional: 10 } as const;

export class MessageWriter {
  readonly bytes = new Uint8Array(messageBytesMax + overrunBytes);
  length = headerBytes;
  #limit = messageBytesMax;
  readonly #names = new CompressionTable();

  begin(bytesMax = messageBytesMax): void {
    this.length = headerBytes;
    this.#limit = bytesMax;
    this.#names.restore(0);
    this.bytes.fill(0, 0, headerBytes);
  }

  id(id: number): void {
    this.#put16(0, id);
  }

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
    const { count } = this.#names;
    for (const data of set.data) {
      if (!this.#record(set, recordClass, data)) {
        this.length = length;
        this.#names.restore(count);
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

  rawRecord(record: Uint8Array): boolean {
    if (this.length + record.length > this.#limit) return false;
    this.bytes.set(record, this.length);
    this.length += record.length;
    this.#count("additional", 1);
    return true;
  }
}

const slots = 4096;
const entriesMax = (slots * 3) / 4;
const probesMax = 16;
/** A compression pointer has 14 bits. */
const pointerTargetMax = 0x3fff;

/**
 * The names that a message under construction already holds, so that later names can point to them
 * (RFC 1035 section 4.1.4). The table maps the hash of a name suffix to its offset in the message;
 * a comparison with the octets at that offset confirms each match. Writing a name allocates
 * nothing. When the table is full, later names are written in full.
 */
class CompressionTable {
  readonly #offsets = new Uint16Array(slots);
  /** Slots in the order in which they were filled. */
  readonly #filled = new Uint16Array(entriesMax);
  count = 0;
  /** For each label of the current name: its start, and the hash of the name from that label on. */
  readonly #starts = new Uint8Array(nameWireBytesMax);
  readonly #hashes = new Int32Array(nameWireBytesMax);

  /** Removes the newest entries until `count` are left. */
  restore(count: number): void {
    while (this.count > count) this.#offsets[this.#filled[--this.count]!] = 0;
  }

  /** Writes a name at `length`, compressed where possible; returns the new length. */
  append(message: Uint8Array, length: number, name: Uint8Array): number {
    const labels = this.#measure(name);
    for (let label = 0; label < labels; label++) {
      const start = this.#starts[label]!;
      const offset = this.#find(message, name, start, this.#hashes[label]!);
      if (offset === 0) continue;
      message.set(name.subarray(0, start), length);
      this.#addLabels(label, length);
      message[length + start] = 0xc0 | (offset >>> 8);
      message[length + start + 1] = offset & 0xff;
      return length + start + 2;
    }
    message.set(name, length);
    this.#addLabels(labels, length);
    return length + name.length;
  }

  #measure(name: Uint8Array): number {
    let labels = 0;
    for (let at = 0; name[at]! > 0; at += name[at]! + 1) this.#starts[labels++] = at;
    let hash = 0x811c_9dc5 | 0;
    for (let label = labels - 1; label >= 0; label--) {
      const start = this.#starts[label]!;
      for (let at = start + name[start]!; at >= start; at--) {
        hash = Math.imul(hash ^ lowerCase[name[at]!]!, 0x0100_0193);
      }
      this.#hashes[label] = hash;
    }
    return labels;
  }

  #find(message: Uint8Array, name: Uint8Array, at: number, hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (slots - 1);
    for (let probe = 0; probe < probesMax; probe++) {
      const offset = this.#offsets[slot]!;
      if (offset === 0) return 0;
      if (isSameName(message, offset, name, at)) return offset;
      slot = (slot + 1) & (slots - 1);
    }
    return 0;
  }

  #addLabels(labels: number, base: number): void {
    for (let label = 0; label < labels; label++) {
      const offset = base + this.#starts[label]!;
      if (offset > pointerTargetMax || this.count >= entriesMax) return;
      const hash = this.#hashes[label]!;
      let slot = (hash ^ (hash >>> 15)) & (slots - 1);
      for (let probe = 0; probe < probesMax; probe++) {
        if (this.#offsets[slot] === 0) {
          this.#offsets[slot] = offset;
          this.#filled[this.count++] = slot;
          break;
        }
        slot = (slot + 1) & (slots - 1);
      }
    }
  }
}

function isSameName(message: Uint8Array, offset: number, name: Uint8Array, at: number): boolean {
  let there = offset;
  let here = at;
  for (;;) {
    let length = message[there]!;
    while (length >= 0xc0) {
      there = ((length & 0x3f) << 8) | message[there + 1]!;
      length = message[there]!;
    }
    if (length !== name[here]) return false;
    if (length === 0) return true;
    for (let index = 1; index <= length; index++) {
      if (lowerCase[message[there + index]!] !== lowerCase[name[here + index]!]) return false;
    }
    there += length + 1;
    here += length + 1;
  }
}
