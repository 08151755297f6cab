/**
 * Frames: values for a transport that carries only bytes.
 *
 * A frame begins with its head: the length of a JSON text in four bytes, and the JSON text. Behind
 * the head are the bytes that JSON cannot hold: the byte arrays of the value.
 */

const lengthBytes = 4;

/** Where a byte array is, counted from the end of the head. */
type Span = [start: number, length: number];

export function encodeFrame(value: unknown): Blob {
  const attachments: Uint8Array<ArrayBuffer>[] = [];
  let end = 0;
  const json = JSON.stringify(value, (_, item: unknown) => {
    if (!(item instanceof ArrayBuffer) && !ArrayBuffer.isView(item)) return item;
    const bytes =
      item instanceof ArrayBuffer ? new Uint8Array(item) : (item as Uint8Array<ArrayBuffer>);
    const span: Span = [end, bytes.length];
    attachments.push(bytes);
    end += bytes.length;
    return { [bytesField]: span };
  });
  return new Blob([encodeHead(json), ...attachments]);
}

export function decodeFrame<Value>(buffer: ArrayBuffer): Value {
  const frame = new Uint8Array(buffer);
  const headEnd = headLength(frame);
  return JSON.parse(headJson(frame, headEnd), (_, item: unknown) => {
    const span = spanOf(item);
    if (span === null) return item;
    const start = headEnd + span[0];
    // A copy: a view would keep the whole frame in memory, and its `buffer` would be the frame.
    return new Uint8Array(buffer.slice(start, start + span[1]));
  }) as Value;
}

/** Metadata may have this name too, but its values are text, and this value is a pair of numbers. */
const bytesField = "$bytes";

function spanOf(item: unknown): Span | null {
  if (typeof item !== "object" || item === null || !(bytesField in item)) return null;
  const span = item[bytesField];
  return Array.isArray(span) ? (span as Span) : null;
}

function encodeHead(json: string): Uint8Array<ArrayBuffer> {
  const encoded = new TextEncoder().encode(json);
  const head = new Uint8Array(lengthBytes + encoded.length);
  new DataView(head.buffer).setUint32(0, encoded.length);
  head.set(encoded, lengthBytes);
  return head;
}

/** The length of the head, of which at least the first four bytes are there. */
function headLength({ buffer, byteOffset }: Uint8Array): number {
  return lengthBytes + new DataView(buffer, byteOffset).getUint32(0);
}

function headJson(frame: Uint8Array, headEnd: number): string {
  return new TextDecoder().decode(frame.subarray(lengthBytes, headEnd));
}
