/** Pseudo-random bytes: different seeds give different bytes. */
export function bytesOf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let state = seed * 2654435761;
  for (let index = 0; index < size; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Whether both arrays hold the same bytes. vitest's comparison takes seconds for large arrays. */
export function sameBytes(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left !== undefined && Buffer.compare(left, right) === 0;
}
