/**
 * Checksums that find damage in the database: a flipped bit in a page of SQLite's file.
 *
 * SQLite does not verify its pages, so rows carry checksums of their own (`row-seal.ts`). A
 * checksum has 32 bits and protects against accidents, not against an attacker. Each word of the
 * input enters one of two states by a step that is a bijection of the state and of the word: damage
 * within one word, and so every single flipped bit, always changes the checksum; other damage stays
 * unnoticed once in 2^32 times. Two states, because the multiplication of one does not wait for the
 * other. In Node a checksum takes 28 µs for 64 KiB; MD5 takes 107 µs.
 */

const firstFactor = 0x9e3779b1 | 0;
const secondFactor = 0x85ebca77 | 0;
const modulus = 2 ** 32;

/** The checksum of a range of bytes, as an unsigned integer of 32 bits. */
function checksumOfView(view: DataView, start: number, end: number): number {
  let first = (end - start) | 0;
  let second = firstFactor;
  let offset = start;
  for (const last = end - 7; offset < last; offset += 8) {
    first = Math.imul(first ^ view.getInt32(offset, true), firstFactor);
    first ^= first >>> 15;
    second = Math.imul(second ^ view.getInt32(offset + 4, true), firstFactor);
    second ^= second >>> 15;
  }
  if (offset + 4 <= end) {
    first = Math.imul(first ^ view.getInt32(offset, true), firstFactor);
    first ^= first >>> 15;
    offset += 4;
  }
  let rest = 0;
  for (let shift = 0; offset < end; offset++, shift += 8) rest |= view.getUint8(offset) << shift;
  first = Math.imul(first ^ rest, secondFactor);
  first = Math.imul(first ^ (first >>> 15) ^ second, firstFactor);
  return (first ^ (first >>> 13)) >>> 0;
}

export function checksumOfBytes(bytes: ArrayBuffer | Uint8Array): number {
  const view =
    bytes instanceof ArrayBuffer
      ? new DataView(bytes)
      : new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return checksumOfView(view, 0, view.byteLength);
}

/** Whether two checksums, or two sums of checksums, are the same. */
export function isSameChecksum(one: number, other: number): boolean {
  return (one - other) % modulus === 0;
}

/** A sum of checksums as an integer of 32 bits with a sign, which SQLite stores in four bytes. */
export function storedChecksum(sum: number): number {
  return (sum % modulus) | 0;
}

/** The part of `TextEncoder` that checksums of texts use. */
interface Encoder {
  encodeInto(text: string, bytes: Uint8Array): { readonly written: number };
}

/** Checksums of texts in their UTF-8 form. */
export class TextChecksums {
  readonly #encoder: Encoder;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);

  constructor(encoder: Encoder) {
    this.#encoder = encoder;
  }

  of(text: string): number {
    const length = this.#encode(text);
    return checksumOfView(this.#view, 0, length);
  }

  /**
   * The sum of the checksums of the pieces of a text. A piece ends with a newline.
   *
   * A page of a listing is one text, and SQLite gives only the sum of the checksums of its rows: to
   * return each row by itself would take longer than the rest of the page.
   *
   * @param gaps the distances from the end of a piece to the start of the next, which take turns
   * @returns the sum of the pieces that have a checksum: not the text `null`, and no piece that
   *   begins with a space, which marks a row without a checksum
   */
  sumPieces(text: string, gaps: readonly number[]): number {
    const length = this.#encode(text);
    const bytes = this.#bytes;
    const view = this.#view;
    const isAscii = length === text.length;
    let sum = 0;
    let start = 1;
    for (let index = 0; start < length; index++) {
      const found = isAscii ? text.indexOf("\n", start) : bytes.indexOf(newline, start);
      const end = found === -1 ? length : Math.min(found, length);
      const isSealed = view.getUint8(start) !== space && !isNull(view, start, end);
      if (isSealed) sum += checksumOfView(view, start, end);
      start = end + (gaps[index % gaps.length] as number);
    }
    return sum;
  }

  /** Writes the text into memory that the next call overwrites. Returns the number of bytes. */
  #encode(text: string): number {
    const bytesMax = text.length * characterBytesMax;
    if (bytesMax > this.#bytes.length) {
      this.#bytes = new Uint8Array(Math.max(bytesMax, bufferBytesMin));
      this.#view = new DataView(this.#bytes.buffer);
    }
    return this.#encoder.encodeInto(text, this.#bytes).written;
  }
}

/** UTF-8 takes at most this for a code unit of UTF-16. */
const characterBytesMax = 3;
const bufferBytesMin = 64 * 1024;

const newline = 0x0a;
const space = 0x20;
const nullWord = 0x6c6c756e;

function isNull(view: DataView, start: number, end: number): boolean {
  return end - start === 4 && view.getInt32(start, true) === nullWord;
}
