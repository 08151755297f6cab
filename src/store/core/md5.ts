/**
 * MD5 (RFC 1321), for the entity tags of multipart objects.
 *
 * workerd's MD5 is asynchronous, or part of its Node.js compatibility. An entity tag is computed
 * inside a synchronous transaction, and Node.js compatibility takes longer to start than the rest
 * of the buckets' worker (`docs/decisions/0013`, Start-up). The input here is the hashes of the
 * parts, at most 160 kB; the hashes of contents come from the runtime's MD5.
 */
import { encodeHex } from "../../base/hex.ts";

const blockBytes = 64;
/** The number of bits, at the end of the last block. */
const lengthBytes = 8;

const initialState = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];

/** The rotations of the four rounds, by step. */
const rotations = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** The hash in lower-case hexadecimal. */
export function md5(content: Uint8Array): string {
  const words = new DataView(padded(content).buffer);
  const state = Int32Array.from(initialState);
  // Computed here, because few workers need it and none needs it at start.
  const sines = Int32Array.from(
    { length: 64 },
    (_, step) => Math.abs(Math.sin(step + 1)) * 2 ** 32,
  );
  for (let offset = 0; offset < words.byteLength; offset += blockBytes) {
    mix(state, words, offset, sines);
  }
  const hash = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) hash.setInt32(index * 4, word, true);
  return encodeHex(new Uint8Array(hash.buffer));
}

/** Appends a one bit, zeros, and the length: the result is a whole number of blocks. */
function padded(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((content.length + 1 + lengthBytes) / blockBytes);
  const bytes = new Uint8Array(blocks * blockBytes);
  bytes.set(content);
  bytes[content.length] = 0x80;
  const bits = BigInt(content.length) * 8n;
  new DataView(bytes.buffer).setBigUint64(bytes.length - lengthBytes, bits, true);
  return bytes;
}

/** Mixes one block into the state. */
function mix(state: Int32Array, words: DataView, offset: number, sines: Int32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let step = 0; step < 64; step++) {
    const round = step >> 4;
    let mixed: number;
    let index: number;
    if (round === 0) [mixed, index] = [(b & c) | (~b & d), step];
    else if (round === 1) [mixed, index] = [(b & d) | (c & ~d), 5 * step + 1];
    else if (round === 2) [mixed, index] = [b ^ c ^ d, 3 * step + 5];
    else [mixed, index] = [c ^ (b | ~d), 7 * step];
    const word = words.getInt32(offset + (index & 15) * 4, true);
    const sum = (a + mixed + (sines[step] as number) + word) | 0;
    const rotation = (rotations[round] as readonly number[])[step & 3] as number;
    [a, d, c, b] = [d, c, b, (b + ((sum << rotation) | (sum >>> (32 - rotation)))) | 0];
  }
  for (const [index, word] of [a, b, c, d].entries()) {
    state[index] = (state[index] as number) + word;
  }
}
