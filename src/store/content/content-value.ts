/** A value that a caller stores. */
export type Value = { readonly bytes: Uint8Array } | StreamValue;

export interface StreamValue {
  readonly stream: ReadableStream;
  /** `null` where the length is not known: only in Node */
  readonly length: number | null;
  /** The stream ends with an end-of-stream mark (`transport/marked-stream.ts`). */
  readonly marked?: boolean;
}
