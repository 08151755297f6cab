/** Streams that are sound, and streams that are not. */
import type { Subject } from "./subject.ts";

/** Classes that only workerd has, and that Node's types do not know. */
const workerd = globalThis as unknown as {
  FixedLengthStream: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  IdentityTransformStream: new () => TransformStream<Uint8Array, Uint8Array>;
};

const chunkBytes = 65_536;

/** A stream that promises `length` bytes, and has not one of them. */
export function promisedStream(length: number): ReadableStream {
  return new workerd.FixedLengthStream(length).readable;
}

/** A stream of which workerd does not know how long it is. */
export function streamOfUnknownLength(): ReadableStream {
  return new workerd.IdentityTransformStream().readable;
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += chunkBytes) {
    yield bytes.subarray(offset, offset + chunkBytes);
  }
}

/**
 * A stream of `bytes`, in chunks. In workerd its length is `length`; the stream errors when that
 * is not what `bytes` has.
 */
export function streamOf(
  subject: Subject,
  bytes: Uint8Array,
  length = bytes.length,
): ReadableStream {
  if (subject.runtime === "node") {
    const chunks = chunksOf(bytes);
    return new ReadableStream({
      pull(controller) {
        const next = chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
    });
  }
  const { readable, writable } = new workerd.FixedLengthStream(length);
  void write(writable, bytes);
  return readable;
}

/** Failures show at the readable end, which is where the tests look. */
async function write(writable: WritableStream, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  try {
    for (const chunk of chunksOf(bytes)) await writer.write(chunk);
    await writer.close();
  } catch {
    writer.releaseLock();
  }
}

/** A stream that promises `length` bytes and errors with `reason` when it has given half. */
export function failingStream(subject: Subject, length: number, reason: Error): ReadableStream {
  const half = new Uint8Array(Math.floor(length / 2));
  if (subject.runtime === "node") {
    const chunks = chunksOf(half);
    return new ReadableStream({
      pull(controller) {
        const next = chunks.next();
        if (next.done === true) controller.error(reason);
        else controller.enqueue(next.value);
      },
    });
  }
  const { readable, writable } = new workerd.FixedLengthStream(length);
  void (async () => {
    const writer = writable.getWriter();
    try {
      for (const chunk of chunksOf(half)) await writer.write(chunk);
      await writer.abort(reason);
    } catch {
      // The reader gave up first.
    }
  })();
  return readable;
}

/** The stream after it went through a pipe of the runtime, as scripts do that change bodies. */
export function piped(subject: Subject, stream: ReadableStream): ReadableStream {
  const { readable, writable } =
    subject.runtime === "workerd" ? new workerd.IdentityTransformStream() : new TransformStream();
  // A failure shows at the readable end.
  stream.pipeTo(writable).catch(() => {});
  return readable;
}

/** A stream that somebody else is reading. */
export function lockedStream(): ReadableStream {
  const stream = bodyOf("abc");
  stream.getReader();
  return stream;
}

/** A stream that somebody else has read. */
export async function consumedStream(): Promise<ReadableStream> {
  const stream = bodyOf("abc");
  await new Response(stream).text();
  return stream;
}

/** A stream that nobody reads now, and that somebody has read a chunk of. */
export async function disturbedStream(subject: Subject): Promise<ReadableStream> {
  const stream = streamOf(subject, new Uint8Array(chunkBytes * 2));
  const reader = stream.getReader();
  await reader.read();
  reader.releaseLock();
  return stream;
}

/** The body of a response: a stream of known length. */
export function bodyOf(content: string | Uint8Array<ArrayBuffer>): ReadableStream {
  const { body } = new Response(content);
  if (body === null) throw new Error("Cannot make a stream: the response has no body");
  return body;
}
