/**
 * Frames: values for a transport that carries only bytes.
 *
 * A frame begins with its head: the length of a JSON text in four bytes, and the JSON text. Behind
 * the head are the bytes that JSON cannot hold: the byte arrays of the value (`encodeFrame`), or a
 * body that is streamed (`streamFrame`).
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

/**
 * A value and a body as one stream. A stream inside of another value does not survive being
 * cancelled on its way through Miniflare's proxy.
 *
 * When the body fails, the stream ends early instead, because a failure would leave the reader
 * waiting. The reader knows how long the body has to be.
 */
export function streamFrame(value: unknown, body: ReadableStream | null): ReadableStream {
  const reader = body?.getReader({ mode: "byob" });
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encodeHead(JSON.stringify(value))),
    async pull(controller) {
      try {
        const next = await reader?.read(new Uint8Array(chunkBytes));
        if (next !== undefined && !next.done) return controller.enqueue(next.value);
      } catch {
        // The stream ends early, which tells the reader.
      }
      controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}

const chunkBytes = 64 * 1024;

interface StreamedFrame<Value> {
  readonly value: Value;
  /** @param onShort makes the error of a body that ends before `length` */
  body(length: number, onShort: (count: number) => Error): ReadableStream<Uint8Array>;
}

/** Reads the value of a frame that `streamFrame` made. The body is read as the caller needs it. */
export async function readStreamFrame<Value>(
  stream: ReadableStream,
): Promise<StreamedFrame<Value>> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  let received = new Uint8Array(0);
  const receive = async (bytes: number): Promise<void> => {
    while (received.length < bytes) {
      const { done, value } = await reader.read();
      if (done) throw new Error("The answer of the bucket is incomplete");
      const joined = new Uint8Array(received.length + value.length);
      joined.set(received);
      joined.set(value, received.length);
      received = joined;
    }
  };
  await receive(lengthBytes);
  const headEnd = headLength(received);
  await receive(headEnd);

  return {
    value: JSON.parse(headJson(received, headEnd)) as Value,
    body(length, onShort) {
      let count = 0;
      let first: Uint8Array | undefined = received.slice(headEnd);
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          const chunk = first?.length ? first : (await reader.read()).value;
          first = undefined;
          if (chunk === undefined && count < length) throw onShort(count);
          if (chunk === undefined) return controller.close();
          count += chunk.length;
          controller.enqueue(chunk);
        },
        cancel: (reason) => reader.cancel(reason),
      });
    },
  };
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
