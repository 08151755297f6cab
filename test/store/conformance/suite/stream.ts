/** Valid and invalid streams. */
import type { Subject } from "./subject.ts";

/** Classes that only workerd has: Node's types do not declare them. */
const workerd = globalThis as unknown as {
  FixedLengthStream: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  IdentityTransformStream: new () => TransformStream<Uint8Array, Uint8Array>;
};

const chunkBytes = 65_536;

/** A stream that declares `length` bytes and carries none. */
export function declaredStream(length: number): ReadableStream {
  return new workerd.FixedLengthStream(length).readable;
}

/** A stream whose length workerd does not know. */
export function streamOfUnknownLength(): ReadableStream {
  return new workerd.IdentityTransformStream().readable;
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += chunkBytes) {
    yield bytes.subarray(offset, offset + chunkBytes);
  }
}

/**
 * A stream of `bytes` in chunks. In workerd, `length` is the declared length: the stream errors
 * when `bytes` has another length.
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

/** Errors of the writer are ignored: the tests see them at the readable end. */
async function write(writable: WritableStream, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  try {
    for (const chunk of chunksOf(bytes)) await writer.write(chunk);
    await writer.close();
  } catch {
    writer.releaseLock();
  }
}

/** A stream that declares `length` bytes and errors with `reason` after half of them. */
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
      // The reader cancelled the stream.
    }
  })();
  return readable;
}

/** The stream behind a pipe of the runtime, as in scripts that transform bodies. */
export function piped(subject: Subject, stream: ReadableStream): ReadableStream {
  const { readable, writable } =
    subject.runtime === "workerd" ? new workerd.IdentityTransformStream() : new TransformStream();
  // The tests see a failure at the readable end.
  stream.pipeTo(writable).catch(() => {});
  return readable;
}

/** A stream with a reader. */
export function lockedStream(): ReadableStream {
  const stream = bodyOf("abc");
  stream.getReader();
  return stream;
}

/** A stream that has been read to its end. */
export async function consumedStream(): Promise<ReadableStream> {
  const stream = bodyOf("abc");
  await new Response(stream).text();
  return stream;
}

/** A stream without a reader, of which one chunk has been read. */
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
  if (body === null) throw new Error("Cannot create a stream: the response has no body");
  return body;
}
