/** Values to store, of every type that put and uploadPart take. */
import type { Value } from "../content/content-value.ts";
import { argumentError, parameterError } from "./arguments.ts";
import type { BucketSettings } from "../core/bucket-settings.ts";

/** The types of a value, in the platform's error messages. */
export const valueTypes = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

const encoder = new TextEncoder();

/**
 * Copies the bytes of a value, so that later changes by the script are not stored.
 *
 * @throws TypeError for a value that cannot be stored
 */
export function toValue(
  value: unknown,
  method: string,
  { allowUnsizedStreams }: BucketSettings,
): Value {
  if (typeof value === "string") return { bytes: encoder.encode(value) };
  if (value instanceof ArrayBuffer) {
    requireAttached(value, method);
    return { bytes: new Uint8Array(value.slice(0)) };
  }
  if (value instanceof SharedArrayBuffer) return { bytes: new Uint8Array(value).slice() };
  if (ArrayBuffer.isView(value)) {
    requireAttached(value.buffer, method);
    return { bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() };
  }
  if (value instanceof Blob) return { stream: value.stream(), length: value.size };
  if (value instanceof ReadableStream) {
    if (value.locked) throw new TypeError("The ReadableStream has been locked to a reader.");
    if (isDisturbed(value)) throw new TypeError("This ReadableStream is disturbed.");
    const length = streamLength(value);
    if (length === null && !allowUnsizedStreams) {
      throw new TypeError(
        "Provided readable stream must have a known length " +
          "(request/response body or readable half of FixedLengthStream)",
      );
    }
    return { stream: value, length };
  }
  throw argumentError(method, 2, valueTypes);
}

/**
 * The length of a stream, or `null` where the runtime does not know it.
 *
 * The runtime has no API for the length. It shows the length to its inspector through a symbol on
 * `ReadableStream.prototype`, and this function reads that symbol.
 */
function streamLength(stream: ReadableStream): number | null {
  if (lengthSymbol === undefined) return null;
  const length = (stream as unknown as Record<symbol, bigint | undefined>)[lengthSymbol];
  return length === undefined ? null : Number(length);
}

const lengthSymbol = Object.getOwnPropertySymbols(ReadableStream.prototype).find(
  (symbol) => symbol.description === "length",
);

/** Whether bytes of the stream have been read. Only a `Response` tells. */
function isDisturbed(stream: ReadableStream): boolean {
  try {
    return new Response(stream).bodyUsed;
  } catch {
    return true;
  }
}

/** Deviation: a detached buffer is refused. The platform stores it as an empty value. */
function requireAttached(buffer: ArrayBufferLike, method: string): void {
  if (!("detached" in buffer) || !buffer.detached) return;
  throw parameterError(method, 2, "a detached ArrayBuffer");
}
