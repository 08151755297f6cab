/** Values to store: every kind that put and uploadPart take. */
import type { Value } from "../content/content-value.ts";
import { argumentError } from "./arguments.ts";
import type { BucketSettings } from "./settings.ts";
import { streamLength } from "./stream-length.ts";

/** How the platform names the types of a value. */
export const valueTypes = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

const encoder = new TextEncoder();

/**
 * Takes a value as it is now: bytes that the script changes later are not stored.
 *
 * @throws TypeError for anything that cannot be stored
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

/** Whether something has been read from it. Only a body tells. */
function isDisturbed(stream: ReadableStream): boolean {
  try {
    return new Response(stream).bodyUsed;
  } catch {
    return true;
  }
}

/** Deviation: a detached buffer is refused, and not taken for no bytes. */
function requireAttached(buffer: ArrayBufferLike, method: string): void {
  if (!("detached" in buffer) || !buffer.detached) return;
  const [owner, name] = method.split(".");
  throw new TypeError(
    `Failed to execute '${name}' on '${owner}': parameter 2 is a detached ArrayBuffer.`,
  );
}
