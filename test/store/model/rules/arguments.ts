/** The platform's rules for arguments: which are coerced, and which are refused. */
import { fieldError, parameterError, storeError, type Action } from "./errors.ts";

/** Limits of the specification. */
const keySizeBytesMax = 1024;

export function readString(
  args: readonly unknown[],
  { method, position }: { method: string; position: number },
): string {
  if (args.length < position) throw parameterError(method, { position, type: "string" });
  return stringOf(args[position - 1]);
}

export function stringOf(value: unknown): string {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return String(value).toWellFormed();
}

export function checkKey(key: string, action: Action): void {
  const sizeBytes = Buffer.byteLength(key);
  if (sizeBytes < 1 || sizeBytes > keySizeBytesMax) throw storeError(action, 10020);
}

export type Options = Record<string, unknown>;

export function readOptions(
  value: unknown,
  { method, position, type }: { method: string; position: number; type: string },
): Options {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object") throw parameterError(method, { position, type });
  return value as Options;
}

export function readDate(value: unknown, field: { name: string; on: string }): number {
  if (!(value instanceof Date) && typeof value !== "number") {
    throw fieldError(field.name, { on: field.on, type: "date" });
  }
  const milliseconds = Number(value);
  if (Number.isNaN(milliseconds)) {
    throw new TypeError("The value cannot be converted because it is not a valid Date.");
  }
  return milliseconds;
}

/** A stream in the model: its bytes, its declared length and its end. */
export class ModelStream {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengthBytes: number | undefined;
  readonly locked: boolean;
  readonly error: Error | undefined;

  constructor(stream: {
    bytes: Uint8Array<ArrayBuffer>;
    lengthBytes?: number;
    locked?: boolean;
    error?: Error | undefined;
  }) {
    this.bytes = stream.bytes;
    this.lengthBytes = stream.lengthBytes;
    this.locked = stream.locked ?? false;
    this.error = stream.error;
  }
}

const valueType = "ReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

/** Checks the type of a value. This happens before any check of the bucket. */
export function checkValue(
  value: unknown,
  { method, position }: { method: string; position: number },
): void {
  if (value instanceof ModelStream) {
    if (value.locked) throw new TypeError("The ReadableStream has been locked to a reader.");
    if (value.lengthBytes === undefined) {
      throw new TypeError(
        "Provided readable stream must have a known length (request/response body or readable half of FixedLengthStream)",
      );
    }
    return;
  }
  const known =
    typeof value === "string" ||
    value instanceof ArrayBuffer ||
    value instanceof Blob ||
    ArrayBuffer.isView(value);
  if (!known) throw parameterError(method, { position, type: valueType });
}

export async function readValue(value: unknown): Promise<Uint8Array<ArrayBuffer>> {
  if (value instanceof ModelStream) {
    if (value.error) throw value.error;
    if (value.bytes.length !== value.lengthBytes) {
      throw new TypeError("FixedLengthStream did not see all expected bytes before close().");
    }
    return value.bytes;
  }
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  const view = value as ArrayBufferView<ArrayBuffer>;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
