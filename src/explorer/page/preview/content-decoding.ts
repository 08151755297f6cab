/** Undoes a content encoding, as far as the bytes go. */

const formats: ReadonlyMap<string, CompressionFormat> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
]);

/** How many times the size of the encoded bytes is decoded: a few bytes can stand for gigabytes. */
const growthMax = 16;

/** For the writer of a stream, whose reader sees each error too. */
const ignore = (): void => {};

/**
 * `null` if the encoding is unknown here, or if the bytes do not have it. The beginning of encoded
 * bytes is decoded as far as possible.
 */
export async function decodeContent(
  encoded: Uint8Array,
  encoding: string,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean } | null> {
  const format = formats.get(encoding);
  if (format === undefined) return null;
  const stream = new DecompressionStream(format);
  const writer = stream.writable.getWriter();
  writer.write(Uint8Array.from(encoded)).catch(ignore);
  writer.close().catch(ignore);
  const reader = stream.readable.getReader();
  const chunks: Uint8Array[] = [];
  let count = 0;
  try {
    while (count < encoded.length * growthMax) {
      const { done, value } = await reader.read();
      if (done) return { bytes: joinBytes(chunks), isWhole: true };
      chunks.push(value);
      count += value.length;
    }
    await reader.cancel();
  } catch {
    // The bytes end before the encoding does, or they have another encoding.
    if (count === 0) return null;
  }
  return { bytes: joinBytes(chunks), isWhole: false };
}

export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
