/** Contents to store, with their hashes, and valid and invalid streams. */
import { runtime } from "./subject.ts";

/** The store keeps values up to this size in the database, and larger values in files. */
export const inlineBytesMax = 131_072;

/** Sizes around the inline limit, at which the storage of a value changes. */
export const sizes = [0, 1, inlineBytesMax - 1, inlineBytesMax, inlineBytesMax + 1, 1_048_576];

export function toHex(buffer: ArrayBuffer | undefined): string {
  const bytes = new Uint8Array(buffer ?? new ArrayBuffer(0));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** `hello` and its hashes, computed by `printf hello | md5sum` and so on. */
export const hello = {
  text: "hello",
  md5: "5d41402abc4b2a76b9719d911017c592",
  sha1: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
  sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  sha384:
    "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
  sha512:
    "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
};

export const emptyMd5 = "d41d8cd98f00b204e9800998ecf8427e";

export const partBytesMin = 5 * 1024 * 1024;

/**
 * Parts of multipart uploads, created once because creating 5 MiB is slow. The MD5s are computed by
 * `head -c 5242880 /dev/zero | tr '\0' a | md5sum` and so on.
 */
export const parts = {
  a: { content: filled("a"), md5: "79b281060d337b9b2b84ccf390adcf74" },
  b: { content: filled("b"), md5: "74843a3ab193a389bced899402d99d5f" },
  tail: { content: "tail", md5: "7aea2552dfe7eb84b9443b6fc9ba6e01" },
  abc: { content: "abc", md5: "900150983cd24fb0d6963f7d28e17f72" },
};

/** The MD5 of the concatenated binary MD5s of the parts, and the number of parts. */
export const etags = {
  aThenTail: "30dcfd3901d1c613b7fb532281748544-2",
  aThenBThenTail: "1af560d38fa58b7629ca9d6c912c720b-3",
  abc: "af5da9f45af7a300e3aded972f8ff687-1",
};

function filled(letter: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(partBytesMin).fill(letter.charCodeAt(0));
}

/** Classes that only workerd has: Node's types do not declare them. */
const workerd = globalThis as unknown as {
  FixedLengthStream: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  IdentityTransformStream: new () => TransformStream<Uint8Array, Uint8Array>;
};

const chunkBytes = 65_536;

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += chunkBytes) {
    yield bytes.subarray(offset, offset + chunkBytes);
  }
}

/**
 * A stream of `bytes` in chunks, which errors with `reason` after them. In workerd, `length` is the
 * declared length: the stream errors when `bytes` has another length.
 */
export function streamOf(
  bytes: Uint8Array,
  { length = bytes.length, reason }: { length?: number; reason?: Error } = {},
): ReadableStream {
  if (runtime === "node") {
    const chunks = chunksOf(bytes);
    return new ReadableStream({
      pull(controller) {
        const next = chunks.next();
        if (next.done !== true) controller.enqueue(next.value);
        else if (reason === undefined) controller.close();
        else controller.error(reason);
      },
    });
  }
  const { readable, writable } = new workerd.FixedLengthStream(length);
  const write = async (): Promise<void> => {
    const writer = writable.getWriter();
    for (const chunk of chunksOf(bytes)) await writer.write(chunk);
    await (reason === undefined ? writer.close() : writer.abort(reason));
  };
  // Errors of the writer are ignored: the tests see them at the readable end.
  void write().catch(() => {});
  return readable;
}

/** A stream that declares `length` bytes and errors with `reason` after half of them. */
export function failingStream(length: number, reason: Error): ReadableStream {
  return streamOf(new Uint8Array(Math.floor(length / 2)), { length, reason });
}

/** A stream that declares `length` bytes and carries none. */
export function declaredStream(length: number): ReadableStream {
  return new workerd.FixedLengthStream(length).readable;
}

/** A stream whose length workerd does not know. */
export function streamOfUnknownLength(): ReadableStream {
  return new workerd.IdentityTransformStream().readable;
}

/** The stream behind a pipe of the runtime, as in scripts that transform bodies. */
export function piped(stream: ReadableStream): ReadableStream {
  const { readable, writable } =
    runtime === "workerd" ? new workerd.IdentityTransformStream() : new TransformStream();
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
export async function disturbedStream(): Promise<ReadableStream> {
  const stream = streamOf(new Uint8Array(chunkBytes * 2));
  const reader = stream.getReader();
  await reader.read();
  reader.releaseLock();
  return stream;
}

/** The body of a response: a stream of known length. */
function bodyOf(content: string | Uint8Array<ArrayBuffer>): ReadableStream {
  const { body } = new Response(content);
  if (body === null) throw new Error("Cannot create a stream: the response has no body");
  return body;
}

/** A view of the same bytes in a larger buffer, whose other bytes must not be stored. */
function surrounded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length + 27).fill(0xee);
  larger.set(bytes, 16);
  return larger.subarray(16, 16 + bytes.length);
}

/** Every kind of value, created from the same bytes. */
export const kinds = {
  "an ArrayBuffer": (bytes) => bytes.slice().buffer,
  "a Uint8Array": (bytes) => bytes,
  "a Uint8Array into a larger buffer": surrounded,
  "a DataView into a larger buffer"(bytes) {
    const { buffer, byteOffset, byteLength } = surrounded(bytes);
    return new DataView(buffer, byteOffset, byteLength);
  },
  "a Blob": (bytes) => new Blob([bytes]),
  "a Blob of several pieces": (bytes) => new Blob([bytes.slice(0, 7), bytes.slice(7)]),
  "a File": (bytes) => new File([bytes], "file.bin"),
  "a stream": (bytes) => streamOf(bytes),
  "the body of a response": (bytes) => bodyOf(bytes),
} satisfies Record<string, (bytes: Uint8Array<ArrayBuffer>) => unknown>;
