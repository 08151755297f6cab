/**
 * SHA-1 and SHA-256 (FIPS 180-4), for composite checksums of multipart objects.
 *
 * As with `md5.ts`: a composite checksum is computed inside a synchronous transaction, and workerd's
 * hashes are asynchronous. The input is the hashes of the parts, at most 320 kB.
 */
import { encodeHex } from "../../base/hex.ts";

const blockBytes = 64;
/** The number of bits, at the end of the last block. */
const lengthBytes = 8;

type Mix = (state: Int32Array, words: Int32Array) => void;

/** The hash in lower-case hexadecimal. */
export function sha1(content: Uint8Array): string {
  return hash(content, [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0], mixSha1, 80);
}

/** The hash in lower-case hexadecimal. */
export function sha256(content: Uint8Array): string {
  // Computed here, because few workers need them and none needs them at start.
  const roots = primes(64);
  const constants = Int32Array.from(roots, (prime) => fraction(Math.cbrt(prime)));
  const initial = roots.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  return hash(content, initial, (state, words) => mixSha256(state, words, constants), 64);
}

function hash(
  content: Uint8Array,
  initial: readonly number[],
  mix: Mix,
  wordsCount: number,
): string {
  const view = padded(content);
  const state = Int32Array.from(initial);
  const words = new Int32Array(wordsCount);
  for (let offset = 0; offset < view.byteLength; offset += blockBytes) {
    for (let index = 0; index < 16; index++) words[index] = view.getInt32(offset + index * 4);
    mix(state, words);
  }
  const bytes = new DataView(new ArrayBuffer(state.byteLength));
  for (const [index, word] of state.entries()) bytes.setInt32(index * 4, word);
  return encodeHex(new Uint8Array(bytes.buffer));
}

/** Appends a one bit, zeros, and the length: the result is a whole number of blocks. */
function padded(content: Uint8Array): DataView {
  const blocks = Math.ceil((content.length + 1 + lengthBytes) / blockBytes);
  const bytes = new Uint8Array(blocks * blockBytes);
  bytes.set(content);
  bytes[content.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - lengthBytes, BigInt(content.length) * 8n);
  return view;
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
