/**
 * Frames: values for a transport that carries only bytes.
 *
 * A frame begins with its head: the length of a JSON text in four bytes, and the JSON text. Behind
 * the head are the bytes that JSON cannot hold: the byte arrays of the value.
 */

const lengthBytes = 4;
const lengthPlace = "\0".repeat(lengthBytes);

/** Where a byte array is, counted from the end of the head. */
type Span = [start: number, length: number];

export function encodeFrame(value: unknown): Uint8Array<ArrayBuffer> {
  const attachments: Uint8Array[] = [];
  let attached = 0;
  const detach: Replace = (item) => {
    if (!(item instanceof ArrayBuffer) && !ArrayBuffer.isView(item)) return null;
    const bytes = item instanceof ArrayBuffer ? new Uint8Array(item) : (item as Uint8Array);
    const span: Span = [attached, bytes.length];
    attachments.push(bytes);
    attached += bytes.length;
    return { [bytesField]: span };
  };
  const head = encodeHead(JSON.stringify(replaceObjects(value, detach)));
  if (attached === 0) return head;
  const frame = new Uint8Array(head.length + attached);
  frame.set(head);
  let end = head.length;
  for (const bytes of attachments) {
    frame.set(bytes, end);
    end += bytes.length;
  }
  return frame;
}

function encodeHead(json: string): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(lengthPlace + json) as Uint8Array<ArrayBuffer>;
  const length = head.length - lengthBytes;
  for (let index = 0; index < lengthBytes; index++) {
    head[index] = length >>> (8 * (lengthBytes - 1 - index));
  }
  return head;
}

export function decodeFrame<Value>(buffer: ArrayBuffer): Value {
  const frame = new Uint8Array(buffer);
  const headEnd = lengthBytes + new DataView(buffer).getUint32(0);
  const json = decoder.decode(frame.subarray(lengthBytes, headEnd));
  const value = JSON.parse(json) as Value;
  // Most frames hold no bytes.
  if (!json.includes(bytesField)) return value;
  const attach: Replace = (item) => {
    const span = spanOf(item);
    if (span === null) return null;
    const start = headEnd + span[0];
    // A copy: a view would keep the whole frame in memory, and its `buffer` would be the frame.
    return new Uint8Array(buffer.slice(start, start + span[1]));
  };
  return replaceObjects(value, attach) as Value;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns what takes the place of an object, or `null` if the object stays. */
type Replace = (item: object) => object | null;

/**
 * A copy of the value in which some objects are replaced. What has no such object is not copied. A function that
 * `JSON.stringify` or `JSON.parse` calls for each item would take longer than the rest of the frame.
 */
function replaceObjects(value: unknown, replace: Replace): unknown {
  if (typeof value !== "object" || value === null) return value;
  const replaced = replace(value);
  if (replaced !== null) return replaced;
  let copy: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(value)) {
    const other = replaceObjects(item, replace);
    if (other === item) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = other;
  }
  return copy ?? value;
}

/** Metadata may have this name too, but its values are text, and this value is a pair of numbers. */
const bytesField = "$bytes";

function spanOf(item: object): Span | null {
  const span = (item as Record<string, unknown>)[bytesField];
  return Array.isArray(span) ? (span as Span) : null;
}
