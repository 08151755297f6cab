const blockBytes = 64 * 1024;

/**
 * Pseudo-random bytes: different seeds give different bytes. The blocks of a large array are equal,
 * except for their numbers, because it takes long to compute hundreds of megabytes.
 */
export function bytesOf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let state = seed * 2654435761;
  for (let index = 0; index < Math.min(size, blockBytes); index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes[index] = state >>> 24;
  }
  const view = new DataView(bytes.buffer);
  for (let start = blockBytes; start < size; start += blockBytes) {
    bytes.copyWithin(start, 0, Math.min(blockBytes, size - start));
    if (start + 4 <= size) view.setUint32(start, start);
  }
  return bytes;
}

/** Whether both arrays hold the same bytes. vitest's comparison takes seconds for large arrays. */
export function sameBytes(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left?.length === right.length && left.every((byte, index) => byte === right[index]);
}
