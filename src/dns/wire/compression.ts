/**
 * The names that a message under construction already holds, so that later names can point to them
 * (RFC 1035 section 4.1.4). The table maps the hash of a name suffix to its offset in the message;
 * a comparison with the octets at that offset confirms each match. Writing a name allocates
 * nothing. When the table is full, later names are written in full.
 */
import { lowerCase } from "./name-key.ts";
import { nameWireBytesMax } from "./name.ts";

const slots = 4096;
const entriesMax = (slots * 3) / 4;
const probesMax = 16;
/** A compression pointer has 14 bits. */
const pointerTargetMax = 0x3fff;

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

export class CompressionTable {
  readonly #offsets = new Uint16Array(slots);
  /** Slots in the order in which they were filled. */
  readonly #filled = new Uint16Array(entriesMax);
  #count = 0;
  /** For each label of the current name: its start, and the hash of the name from that label on. */
  readonly #starts = new Uint8Array(nameWireBytesMax);
  readonly #hashes = new Int32Array(nameWireBytesMax);

  get count(): number {
    return this.#count;
  }

  /** Removes the newest entries until `count` are left. */
  restore(count: number): void {
    while (this.#count > count) this.#offsets[this.#filled[--this.#count]!] = 0;
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
      if (offset > pointerTargetMax || this.#count >= entriesMax) return;
      const hash = this.#hashes[label]!;
      let slot = (hash ^ (hash >>> 15)) & (slots - 1);
      for (let probe = 0; probe < probesMax; probe++) {
        if (this.#offsets[slot] === 0) {
          this.#offsets[slot] = offset;
          this.#filled[this.#count++] = slot;
          break;
        }
        slot = (slot + 1) & (slots - 1);
      }
    }
  }
}
