/**
 * MD5 (RFC 1321), for the tags of multipart objects.
 *
 * workerd has one of its own only for who waits or for who asks for Node's compatibility layer.
 * A tag is made in the midst of a transaction, which cannot wait, and the layer takes longer to
 * start than everything else of the buckets' worker (`docs/decisions/0013`, Start-up).
 * What is hashed are the tags of parts, 160 kB at most; contents go through the runtime's own.
 */
import { encodeHex } from "../../base/hex.ts";

const blockBytes = 64;
/** At the end of the last block: how many bits there were. */
const lengthBytes = 8;

const initialState = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];

/** By how much each of the four rounds turns its words, over and over. */
const turns = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;

/** The hash in lower-case hexadecimal. */
export function md5(content: Uint8Array): string {
  const words = new DataView(padded(content).buffer);
  const state = Int32Array.from(initialState);
  // Not made before it is needed: seldom, and never while a worker starts.
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

/** A one, as many zeros as it takes, and the length: whole blocks. */
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
    const turn = (turns[round] as readonly number[])[step & 3] as number;
    [a, d, c, b] = [d, c, b, (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0];
  }
  for (const [index, word] of [a, b, c, d].entries()) {
    state[index] = (state[index] as number) + word;
  }
}
