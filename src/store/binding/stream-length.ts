/**
 * The length of a stream, where the runtime knows it.
 *
 * Scripts have no way to ask. The runtime tells its own inspector through a symbol on the
 * prototype of `ReadableStream`, and that is where we look.
 */
const lengthSymbol = Object.getOwnPropertySymbols(ReadableStream.prototype).find(
  (symbol) => symbol.description === "length",
);

/** `null` where nobody knows. */
export function streamLength(stream: ReadableStream): number | null {
  if (lengthSymbol === undefined) return null;
  const length = (stream as unknown as Record<symbol, bigint | undefined>)[lengthSymbol];
  return length === undefined ? null : Number(length);
}
