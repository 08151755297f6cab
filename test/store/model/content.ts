/** Contents that follow from a size and a seed, so that operations need not carry the bytes. */

const cacheSizeBytesMin = 1024 * 1024;
const cache = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Bytes in which every position depends on all previous positions: a misplaced part, or a range
 * that is off by one, changes the digest. The bytes are printable ASCII, valid in a string.
 */
export function contentOf({
  sizeBytes,
  seed,
}: {
  sizeBytes: number;
  seed: number;
}): Uint8Array<ArrayBuffer> {
  const name = `${sizeBytes} ${seed}`;
  const known = cache.get(name);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(sizeBytes);
  // A linear congruential generator (Numerical Recipes' constants).
  let state = seed >>> 0;
  for (let index = 0; index < sizeBytes; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = 32 + ((state >>> 24) % 95);
  }
  if (sizeBytes >= cacheSizeBytesMin) cache.set(name, bytes);
  return bytes;
}
