/**
 * Hashes and CRCs that are computed synchronously, in every runtime.
 *
 * MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4) are for the entity tags and the composite checksums
 * of multipart objects, which are computed inside a synchronous transaction. workerd's hashes are
 * asynchronous, or part of its Node.js compatibility, which takes longer to start than the rest of
 * the buckets' worker (`docs/decisions/0013`, Start-up). The input is the hashes of the parts, at
 * most 320 kB; the hashes of contents come from the runtime.
 *
 * The CRCs of the S3-compatible interface are CRC-32 (ISO-HDLC), CRC-32C (Castagnoli) and
 * CRC-64/NVME. All three are reflected, and begin and end with an inversion. A CRC of bytes is
 * computed eight bytes at a time with eight tables ("slicing by eight"). A register of 64 bits is two
 * halves, because numbers of JavaScript have no more bits. The CRC of a concatenation follows from
 * the CRCs and the lengths of its pieces: the object of an upload gets its CRC from the CRCs of the
 * parts, and no content is read again.
 */
import { encodeHex } from "../../base/hex.ts";

const blockBytes = 64;
/** The number of bits, at the end of the last block. */
const lengthBytes = 8;

/** Mixes one block, the first 16 of the words, into the state. The other words are scratch memory. */
type Mix = (state: Int32Array, words: Int32Array) => void;

/** The hash in lower-case hexadecimal. */
export function md5(content: Uint8Array): string {
  // Computed here, because few workers need the constants and none needs them at start.
  const sines = Int32Array.from(
    { length: 64 },
    (_, step) => Math.abs(Math.sin(step + 1)) * 2 ** 32,
  );
  const mix: Mix = (state, words) => mixMd5(state, words, sines);
  return hash(content, initialWords.slice(0, 4), mix, { isLittleEndian: true });
}

/** The hash in lower-case hexadecimal. */
export function sha1(content: Uint8Array): string {
  return hash(content, initialWords, mixSha1);
}

/** The hash in lower-case hexadecimal. */
export function sha256(content: Uint8Array): string {
  const roots = primes(64);
  const constants = Int32Array.from(roots, (prime) => fraction(Math.cbrt(prime)));
  const initial = roots.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  return hash(content, initial, (state, words) => mixSha256(state, words, constants));
}

/** Of SHA-1; MD5 begins with the first four. */
const initialWords = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];

function hash(
  content: Uint8Array,
  initial: readonly number[],
  mix: Mix,
  { isLittleEndian = false } = {},
): string {
  const view = padded(content, isLittleEndian);
  const state = Int32Array.from(initial);
  const words = new Int32Array(80);
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) {
    for (let index = 0; index < 16; index++) {
      words[index] = view.getInt32(offset + index * 4, isLittleEndian);
    }
    mix(state, words);
  }
  const bytes = new DataView(new ArrayBuffer(state.byteLength));
  for (const [index, word] of state.entries()) bytes.setInt32(index * 4, word, isLittleEndian);
  return encodeHex(new Uint8Array(bytes.buffer));
}

/** Appends a one bit, zeros, and the length: the result is a whole number of blocks. */
function padded(content: Uint8Array, isLittleEndian: boolean): DataView {
  const blocks = Math.ceil((content.length + 1 + lengthBytes) / blockBytes);
  const bytes = new Uint8Array(blocks * blockBytes);
  bytes.set(content);
  bytes[content.length] = 0x80;
  const view = new DataView(bytes.buffer);
  const bits = BigInt(content.length) * 8n;
  view.setBigUint64(bytes.length - lengthBytes, bits, isLittleEndian);
  return view;
}

/** The rotations of the four rounds of MD5, by step. */
const rotations = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

function mixMd5(state: Int32Array, words: Int32Array, sines: Int32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let step = 0; step < 64; step++) {
    const round = step >> 4;
    let mixed: number;
    let index: number;
    if (round === 0) [mixed, index] = [(b & c) | (~b & d), step];
    else if (round === 1) [mixed, index] = [(b & d) | (c & ~d), 5 * step + 1];
    else if (round === 2) [mixed, index] = [b ^ c ^ d, 3 * step + 5];
    else [mixed, index] = [c ^ (b | ~d), 7 * step];
    const sum = (a + mixed + (sines[step] as number) + (words[index & 15] as number)) | 0;
    const rotation = (rotations[round] as readonly number[])[step & 3] as number;
    [a, d, c, b] = [d, c, b, (b + rotateLeft(sum, rotation)) | 0];
  }
  add(state, [a, b, c, d]);
}

function mixSha1(state: Int32Array, words: Int32Array): void {
  const w = (index: number): number => words[index] as number;
  for (let step = 16; step < 80; step++) {
    words[step] = rotateLeft(w(step - 3) ^ w(step - 8) ^ w(step - 14) ^ w(step - 16), 1);
  }
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number];
  for (let step = 0; step < 80; step++) {
    let mixed: number;
    let constant: number;
    if (step < 20) [mixed, constant] = [(b & c) | (~b & d), 0x5a827999];
    else if (step < 40) [mixed, constant] = [b ^ c ^ d, 0x6ed9eba1];
    else if (step < 60) [mixed, constant] = [(b & c) | (b & d) | (c & d), 0x8f1bbcdc];
    else [mixed, constant] = [b ^ c ^ d, 0xca62c1d6];
    const next = (rotateLeft(a, 5) + mixed + e + constant + w(step)) | 0;
    [e, d, c, b, a] = [d, c, rotateLeft(b, 30), a, next];
  }
  add(state, [a, b, c, d, e]);
}

function mixSha256(state: Int32Array, words: Int32Array, constants: Int32Array): void {
  const w = (index: number): number => words[index] as number;
  for (let step = 16; step < 64; step++) {
    const early = w(step - 15);
    const late = w(step - 2);
    const first = rotateLeft(early, 25) ^ rotateLeft(early, 14) ^ (early >>> 3);
    const second = rotateLeft(late, 15) ^ rotateLeft(late, 13) ^ (late >>> 10);
    words[step] = first + second + w(step - 16) + w(step - 7);
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let step = 0; step < 64; step++) {
    const second = rotateLeft(e, 26) ^ rotateLeft(e, 21) ^ rotateLeft(e, 7);
    const choice = (e & f) ^ (~e & g);
    const one = (h + second + choice + (constants[step] as number) + w(step)) | 0;
    const first = rotateLeft(a, 30) ^ rotateLeft(a, 19) ^ rotateLeft(a, 10);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + first + majority) | 0];
  }
  add(state, [a, b, c, d, e, f, g, h]);
}

type Eight = [number, number, number, number, number, number, number, number];

function add(state: Int32Array, words: readonly number[]): void {
  for (const [index, word] of words.entries()) state[index] = (state[index] as number) + word;
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** The first 32 bits behind the point. */
function fraction(number: number): number {
  return ((number - Math.floor(number)) * 2 ** 32) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

export type CrcAlgorithm = "crc32" | "crc32c" | "crc64nvme";

/** The polynomials, reflected. */
const polynomials: Record<CrcAlgorithm, { readonly bits: number; readonly reflected: bigint }> = {
  crc32: { bits: 32, reflected: 0xedb88320n },
  crc32c: { bits: 32, reflected: 0x82f63b78n },
  crc64nvme: { bits: 64, reflected: 0x9a6c9329ac4bc9b5n },
};

const tablesCount = 8;
const tableLength = 256;

/** Eight tables in one array, for the low and for the high half of a register. */
interface CrcTables {
  readonly low: Int32Array;
  /** `null` for a register of 32 bits */
  readonly high: Int32Array | null;
}

/** Made when they are needed first: 16 KiB each. */
const tables = new Map<CrcAlgorithm, CrcTables>();

function tablesOf(algorithm: CrcAlgorithm): CrcTables {
  const known = tables.get(algorithm);
  if (known !== undefined) return known;
  const { bits, reflected } = polynomials[algorithm];
  const low = new Int32Array(tablesCount * tableLength);
  const high = new Int32Array(tablesCount * tableLength);
  for (let byte = 0; byte < tableLength; byte++) {
    let crc = BigInt(byte);
    for (let table = 0; table < tablesCount; table++) {
      for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ reflected : crc >> 1n;
      low[table * tableLength + byte] = Number(BigInt.asIntN(32, crc));
      high[table * tableLength + byte] = Number(BigInt.asIntN(32, crc >> 32n));
    }
  }
  const made = { low, high: bits === 64 ? high : null };
  tables.set(algorithm, made);
  return made;
}

/** A CRC of content that arrives in pieces. */
export class RunningCrc {
  readonly #tables: CrcTables;
  #low = -1;
  #high = -1;

  constructor(algorithm: CrcAlgorithm) {
    this.#tables = tablesOf(algorithm);
  }

  update(bytes: Uint8Array): this {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#tables.high === null) this.#update32(view, this.#tables.low);
    else this.#update64(view, this.#tables.low, this.#tables.high);
    return this;
  }

  /** In hexadecimal. More bytes may follow. */
  digest(): string {
    const low = hexWord(~this.#low);
    return this.#tables.high === null ? low : hexWord(~this.#high) + low;
  }

  #update32(view: DataView, table: Int32Array): void {
    let crc = this.#low;
    let offset = 0;
    for (const end = view.byteLength - 7; offset < end; offset += 8) {
      const first = crc ^ view.getInt32(offset, true);
      const second = view.getInt32(offset + 4, true);
      crc = lookUp(table, first, second);
    }
    for (; offset < view.byteLength; offset++) {
      crc = (crc >>> 8) ^ (table[(crc ^ view.getUint8(offset)) & 0xff] as number);
    }
    this.#low = crc;
  }

  #update64(view: DataView, tableLow: Int32Array, tableHigh: Int32Array): void {
    let low = this.#low;
    let high = this.#high;
    let offset = 0;
    for (const end = view.byteLength - 7; offset < end; offset += 8) {
      const first = low ^ view.getInt32(offset, true);
      const second = high ^ view.getInt32(offset + 4, true);
      low = lookUp(tableLow, first, second);
      high = lookUp(tableHigh, first, second);
    }
    for (; offset < view.byteLength; offset++) {
      const index = (low ^ view.getUint8(offset)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (tableLow[index] as number);
      high = (high >>> 8) ^ (tableHigh[index] as number);
    }
    this.#low = low;
    this.#high = high;
  }
}

/** Advances a register over eight bytes: the first byte has the most bytes behind it. */
function lookUp(table: Int32Array, first: number, second: number): number {
  return (
    (table[1792 + (first & 0xff)] as number) ^
    (table[1536 + ((first >>> 8) & 0xff)] as number) ^
    (table[1280 + ((first >>> 16) & 0xff)] as number) ^
    (table[1024 + (first >>> 24)] as number) ^
    (table[768 + (second & 0xff)] as number) ^
    (table[512 + ((second >>> 8) & 0xff)] as number) ^
    (table[256 + ((second >>> 16) & 0xff)] as number) ^
    (table[second >>> 24] as number)
  );
}

/** The CRC of bytes, in hexadecimal. */
export function crcOf(algorithm: CrcAlgorithm, bytes: Uint8Array): string {
  return new RunningCrc(algorithm).update(bytes).digest();
}

/** The CRC of the concatenation of pieces, in hexadecimal. */
export function combineCrcs(
  algorithm: CrcAlgorithm,
  pieces: readonly { readonly hex: string; readonly size: number }[],
): string {
  const { bits } = polynomials[algorithm];
  const shifts = new Map<number, bigint>();
  let combined = 0n;
  for (const { hex, size } of pieces) {
    let shift = shifts.get(size);
    if (shift === undefined) shifts.set(size, (shift = shiftOverBytes(algorithm, size)));
    combined = multiply(algorithm, shift, combined) ^ BigInt(`0x${hex}`);
  }
  return combined.toString(16).padStart(bits / 4, "0");
}

/** x to the power of 8 * `bytes`, modulo the polynomial: what as many zero bytes do to a register. */
function shiftOverBytes(algorithm: CrcAlgorithm, bytes: number): bigint {
  const { bits } = polynomials[algorithm];
  // Reflected: the highest bit is the coefficient of 1.
  let power = 1n << BigInt(bits - 1);
  let square = 1n << BigInt(bits - 9);
  for (let rest = BigInt(bytes); rest > 0n; rest >>= 1n) {
    if (rest & 1n) power = multiply(algorithm, power, square);
    square = multiply(algorithm, square, square);
  }
  return power;
}

/** The product of two reflected polynomials, modulo the polynomial of the CRC. */
function multiply(algorithm: CrcAlgorithm, left: bigint, right: bigint): bigint {
  const { bits, reflected } = polynomials[algorithm];
  let product = 0n;
  let shifted = right;
  for (let bit = 1n << BigInt(bits - 1); bit > 0n; bit >>= 1n) {
    if (left & bit) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ reflected : shifted >> 1n;
  }
  return product;
}

function hexWord(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
