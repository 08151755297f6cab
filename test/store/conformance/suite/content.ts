/** Content to store, and comparison of content. */

/** The store keeps values up to this size in the database, and larger values in files. */
export const inlineBytesMax = 131_072;

/** Sizes around the inline limit, at which the storage of a value changes. */
export const sizes = [0, 1, inlineBytesMax - 1, inlineBytesMax, inlineBytesMax + 1, 1_048_576];

/** Pseudo-random bytes (xorshift), the same in every run. */
export function bytesOf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(size / 4));
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  for (let index = 0; index < words.length; index += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  return new Uint8Array(words.buffer, 0, size);
}

/**
 * The index of the first byte that differs, or -1. vitest's matchers need seconds for a megabyte,
 * and print all of its bytes.
 */
export function firstDifference(
  actual: ArrayBuffer | Uint8Array,
  expected: ArrayBuffer | Uint8Array,
): number {
  const left = new Uint8Array(actual);
  const right = new Uint8Array(expected);
  const common = Math.min(left.length, right.length);
  for (let index = 0; index < common; index += 1) {
    if (left[index] !== right[index]) return index;
  }
  return left.length === right.length ? -1 : common;
}

export function toHex(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** `hello` and its hashes, computed by `printf hello | md5sum` and so on. */
export const hello = {
  text: "hello",
  md5: "5d41402abc4b2a76b9719d911017c592",
  sha1: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
  sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  sha384:
    "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
  sha512:
    "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
};

export const emptyMd5 = "d41d8cd98f00b204e9800998ecf8427e";
