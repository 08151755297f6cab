/**
 * Frames: values for a transport that carries only bytes.
 *
 * A frame begins with its head: the length of a JSON text in four bytes, and the JSON text. Behind
 * the head are the bytes that JSON cannot hold: the byte arrays of the value.
 */

const lengthBytes = 4;

/** Where a byte array is, counted from the end of the head. */
type Span = [start: number, length: number];

export function encodeFrame(value: unknown): Uint8Array<ArrayBuffer> {
  const attachments: Uint8Array[] = [];
  let attached = 0;
  const json = JSON.stringify(value, (_, item: unknown) => {
    if (!(item instanceof ArrayBuffer) && !ArrayBuffer.isView(item)) return item;
    const bytes = item instanceof ArrayBuffer ? new Uint8Array(item) : (item as Uint8Array);
    const span: Span = [attached, bytes.length];
    attachments.push(bytes);
    attached += bytes.length;
    return { [bytesField]: span };
  });
  const head = new TextEncoder().encode(json);
  const frame = new Uint8Array(lengthBytes + head.length + attached);
  new DataView(frame.buffer).setUint32(0, head.length);
  frame.set(head, lengthBytes);
  let end = lengthBytes + head.length;
  for (const bytes of attachments) {
    frame.set(bytes, end);
    end += bytes.length;
  }
  return frame;
}

export function decodeFrame<Value>(buffer: ArrayBuffer): Value {
  const frame = new Uint8Array(buffer);
  const headEnd = lengthBytes + new DataView(buffer).getUint32(0);
  const json = new TextDecoder().decode(frame.subarray(lengthBytes, headEnd));
  // Most frames hold no bytes, and a function for each item would take longer than the rest.
  if (!json.includes(bytesField)) return JSON.parse(json) as Value;
  return JSON.parse(json, (_, item: unknown) => {
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
