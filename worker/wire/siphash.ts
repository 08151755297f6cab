/**
 * SipHash-2-4 with a result of 64 bits (Aumasson and Bernstein, 2012). Words of 64 bits are pairs
 * of 32: big integers would cost more than the query that a cookie comes with.
 */
const BLOCK_BYTES = 8;

/** v0 to v3, low half before high half; one state, since nothing here can be interrupted. */
const state = new Int32Array(8);

function add(one: number, other: number): void {
  const low = (state[one]! >>> 0) + (state[other]! >>> 0);
  state[one + 1] = state[one + 1]! + state[other + 1]! + (low > 0xffff_ffff ? 1 : 0);
  state[one] = low;
}

function rotate(word: number, bits: number): void {
  const low = state[word]!;
  const high = state[word + 1]!;
  if (bits === 32) {
    state[word] = high;
    state[word + 1] = low;
    return;
  }
  state[word] = (low << bits) | (high >>> (32 - bits));
  state[word + 1] = (high << bits) | (low >>> (32 - bits));
}

function xor(one: number, other: number): void {
  state[one]! ^= state[other]!;
  state[one + 1]! ^= state[other + 1]!;
}

const [V0, V1, V2, V3] = [0, 2, 4, 6] as const;

function round(): void {
  add(V0, V1);
  rotate(V1, 13);
  xor(V1, V0);
  rotate(V0, 32);
  add(V2, V3);
  rotate(V3, 16);
  xor(V3, V2);
  add(V0, V3);
  rotate(V3, 21);
  xor(V3, V0);
  add(V2, V1);
  rotate(V1, 17);
  xor(V1, V2);
  rotate(V2, 32);
}

function word32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function absorb(low: number, high: number): void {
  state[V3]! ^= low;
  state[V3 + 1]! ^= high;
  round();
  round();
  state[V0]! ^= low;
  state[V0 + 1]! ^= high;
}

/** `key` has 16 octets. The result's octets are in little-endian order, as in the reference code. */
export function sipHash(key: Uint8Array, input: Uint8Array): Uint8Array {
  const [k0, k1, k2, k3] = [word32(key, 0), word32(key, 4), word32(key, 8), word32(key, 12)];
  state[0] = k0 ^ 0x7073_6575;
  state[1] = k1 ^ 0x736f_6d65;
  state[2] = k2 ^ 0x6e64_6f6d;
  state[3] = k3 ^ 0x646f_7261;
  state[4] = k0 ^ 0x6e65_7261;
  state[5] = k1 ^ 0x6c79_6765;
  state[6] = k2 ^ 0x7974_6573;
  state[7] = k3 ^ 0x7465_6462;
  const whole = input.length - (input.length % BLOCK_BYTES);
  for (let at = 0; at < whole; at += BLOCK_BYTES) absorb(word32(input, at), word32(input, at + 4));
  absorb(word32(input, whole), word32(input, whole + 4) | ((input.length & 0xff) << 24));
  state[V2]! ^= 0xff;
  for (let count = 0; count < 4; count++) round();
  const low = state[0] ^ state[2] ^ state[4] ^ state[6];
  const high = state[1] ^ state[3] ^ state[5] ^ state[7];
  return Uint8Array.of(
    low,
    low >>> 8,
    low >>> 16,
    low >>> 24,
    high,
    high >>> 8,
    high >>> 16,
    high >>> 24,
  );
}
