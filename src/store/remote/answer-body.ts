/** The bodies of answers: complete or failed, read or given back to the connection. */
import type { S3Answer } from "./s3-transport.ts";

/** A shorter body is read to its end, so that the connection can carry the next request. */
const drainedBytesMax = 64 * 1024;
const readBytes = 64 * 1024;

export interface BodyGuard {
  readonly idleMilliseconds: number;
  /** Makes the error of a body that breaks off. */
  readonly failure: (reason: string, cause?: unknown) => Error;
  /** Ends the request, after the body has failed or the caller has cancelled it. */
  readonly end: () => void;
}

/**
 * A body that fails when it is shorter or longer than its `Content-Length`, or when nothing arrives for
 * some time while the caller waits.
 */
export function guardedBody({ headers, body }: S3Answer, guard: BodyGuard): S3Answer["body"] {
  if (body === null) return null;
  const lengthText = headers.get("content-length");
  const length = lengthText === null ? null : Number(lengthText);
  // The body stays unlocked until it is read here: the caller may read it in another way.
  let opened: ChunkReader | undefined;
  const reader = (): ChunkReader => (opened ??= openReader(body));
  let received = 0;
  const next = async (): Promise<Uint8Array<ArrayBuffer> | null> => {
    const wanted = length === null ? readBytes : length - received;
    const chunk = await withinIdleTime(reader().read(wanted), guard);
    received += chunk?.byteLength ?? 0;
    if (length === null) return chunk;
    if (chunk === null && received < length) {
      throw guard.failure(`the content ended after ${received} of ${length} bytes`);
    }
    if (received > length) throw guard.failure(`the content has more than ${length} bytes`);
    return chunk;
  };
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const chunk = await next();
        if (chunk !== null) controller.enqueue(chunk);
        // The end of the content is known, but the connection is free only after its end was read.
        if (chunk === null || (received === length && (await next()) === null)) {
          controller.close();
          controller.byobRequest?.respond(0);
        }
      } catch (error) {
        guard.end();
        throw error;
      }
    },
    async cancel(reason) {
      await reader().cancel(reason);
      guard.end();
    },
  });
}

interface ChunkReader {
  /** @returns `null` at the end */
  read(bytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  cancel(reason: unknown): Promise<void>;
}

/** The streams of workerd return small chunks, unless the reader brings the memory. */
function openReader(body: ReadableStream<Uint8Array>): ChunkReader {
  try {
    const reader = body.getReader({ mode: "byob" });
    return {
      async read(bytes) {
        const size = Math.min(Math.max(bytes, 1), readBytes);
        const { value, done } = await reader.read(new Uint8Array(size));
        return done ? null : value;
      },
      cancel: (reason) => reader.cancel(reason),
    };
  } catch {
    const reader = body.getReader();
    return {
      async read() {
        const { value, done } = await reader.read();
        // A byte stream takes the memory of a chunk, which may belong to other chunks too. `slice` of Node's
        // buffers does not copy.
        return done ? null : new Uint8Array(value);
      },
      cancel: (reason) => reader.cancel(reason),
    };
  }
}

async function withinIdleTime<Value>(
  work: Promise<Value>,
  { idleMilliseconds, failure }: BodyGuard,
): Promise<Value> {
  const stall = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => stall.reject(failure(`no content arrived for ${idleMilliseconds / 1000} s`)),
    idleMilliseconds,
  );
  const read = work.catch((error: unknown) => {
    throw failure(`the connection was lost: ${(error as Error).message}`, error);
  });
  try {
    return await Promise.race([read, stall.promise]);
  } finally {
    clearTimeout(timer);
    read.catch(() => {});
  }
}

/** Gives up a body that the caller does not want. Never fails. */
export async function discardBody({ headers, body }: S3Answer): Promise<void> {
  if (body === null) return;
  const length = headers.get("content-length");
  try {
    if (length === null || Number(length) > drainedBytesMax) await body.cancel();
    else await body.pipeTo(new WritableStream());
  } catch {
    // The answer was complete without its body.
  }
}

/** The first bytes of a body as text. The rest is cancelled. */
export async function readStart(body: S3Answer["body"], bytesMax: number): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; bytes < bytesMax;) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
