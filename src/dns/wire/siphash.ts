/**
 * SipHash-2-4 with a result of 64 bits (Aumasson and Bernstein, 2012). Two variables of 32 bits
 * hold each 64-bit word: a lower-case letter for the low half, a capital for the high half. BigInt
 * or state in a typed array would take longer than the rest of the query.
 */
const blockBytes = 8;

function word32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

/** 1 when a 32-bit addition, of which `sum` is the result, overflowed. */
function carry(sum: number, term: number): number {
  return sum >>> 0 < term >>> 0 ? 1 : 0;
}

/** `key` has 16 octets. The result is little-endian, as in the reference code. */
export function sipHash(key: Uint8Array, input: Uint8Array): Uint8Array {
  let a = word32(key, 0) ^ 0x7073_6575;
  let A = word32(key, 4) ^ 0x736f_6d65;
  let b = word32(key, 8) ^ 0x6e64_6f6d;
  let B = word32(key, 12) ^ 0x646f_7261;
  let c = word32(key, 0) ^ 0x6e65_7261;
  let C = word32(key, 4) ^ 0x6c79_6765;
  let d = word32(key, 8) ^ 0x7974_6573;
  let D = word32(key, 12) ^ 0x7465_6462;
  const blocks = Math.floor(input.length / blockBytes);
  // One iteration for each block, the last with the length in its highest octet, and one to finish.
  for (let block = 0; block <= blocks + 1; block++) {
    const isLast = block > blocks;
    const low = isLast ? 0 : word32(input, block * blockBytes);
    let high = isLast ? 0 : word32(input, block * blockBytes + 4);
    if (block === blocks) high |= input.length << 24;
    d ^= low;
    D ^= high;
    if (isLast) c ^= 0xff;
    for (let round = isLast ? 4 : 2; round > 0; round--) {
      let swap: number;
      // v0 += v1; v1 <<<= 13; v1 ^= v0; v0 <<<= 32
      a = (a + b) | 0;
      A = (A + B + carry(a, b)) | 0;
      swap = (b << 13) | (B >>> 19);
      B = ((B << 13) | (b >>> 19)) ^ A;
      b = swap ^ a;
      swap = a;
      a = A;
      A = swap;
      // v2 += v3; v3 <<<= 16; v3 ^= v2
      c = (c + d) | 0;
      C = (C + D + carry(c, d)) | 0;
      swap = (d << 16) | (D >>> 16);
      D = ((D << 16) | (d >>> 16)) ^ C;
      d = swap ^ c;
      // v0 += v3; v3 <<<= 21; v3 ^= v0
      a = (a + d) | 0;
      A = (A + D + carry(a, d)) | 0;
      swap = (d << 21) | (D >>> 11);
      D = ((D << 21) | (d >>> 11)) ^ A;
      d = swap ^ a;
      // v2 += v1; v1 <<<= 17; v1 ^= v2; v2 <<<= 32
      c = (c + b) | 0;
      C = (C + B + carry(c, b)) | 0;
      swap = (b << 17) | (B >>> 15);
      B = ((B << 17) | (b >>> 15)) ^ C;
      b = swap ^ c;
      swap = c;
      c = C;
      C = swap;
    }
    a ^= low;
    A ^= high;
  }
  const low = a ^ b ^ c ^ d;
  const high = A ^ B ^ C ^ D;
  const hash = new Uint8Array(8);
  for (let at = 0; at < 4; at++) {
    hash[at] = low >>> (8 * at);
    hash[at + 4] = high >>> (8 * at);
  }
  return hash;
}
