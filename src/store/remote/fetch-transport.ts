/** Requests to an S3 service by `fetch`, through a service of workerd that reaches the network. */
import {
  RemoteError,
  TransportError,
  type S3Answer,
  type S3Message,
  type S3Transport,
} from "./s3-transport.ts";

export function createFetchTransport(network: Pick<Fetcher, "fetch">): S3Transport {
  return (message) => exchange(network, message);
}

async function exchange(network: Pick<Fetcher, "fetch">, message: S3Message): Promise<S3Answer> {
  const { method, headers, signal } = message;
  const url = urlOf(message);
  let body: Uint8Array | ReadableStream | null = null;
  /** Why the content ended. The connection ends the content too. */
  let contentFailure: Promise<Error | null> = Promise.resolve(null);
  if (message.body === undefined || message.body instanceof Uint8Array) body = message.body ?? null;
  else {
    // A stream of a known length is sent with `Content-Length`, others in chunks, which services refuse.
    const { readable, writable } = new FixedLengthStream(message.body.length);
    body = readable;
    contentFailure = sendContent(message, message.body.stream, writable).then(
      () => null,
      (error: Error) => error,
    );
  }
  try {
    const response = await network.fetch(url, {
      method,
      headers,
      signal,
      redirect: "manual",
      // The content of an object is what was stored, also if its `Content-Encoding` says gzip.
      encodeResponseBody: "manual",
      body,
    });
    const { status, headers: answered, body: content } = response;
    if (content === null) return { status, headers: answered, body: null };
    const lengthText = answered.get("content-length") ?? "";
    const length = /^\d+$/.test(lengthText) ? Number(lengthText) : undefined;
    const isSmall = length !== undefined && length <= pieceBytesMin;
    return { status, headers: answered, body: isSmall ? content : inPieces(content), length };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // The end of a request that has used its time ends the content, too.
    const contentError = signal.aborted ? null : await contentFailure;
    if (contentError !== null && contentError.message !== reason) throw contentError;
    throw new TransportError("lost", explained(reason.replace(/\.$/, "")), { cause: error });
  }
}

/** What a read waits for, and the most that it takes: each read takes a turn of JavaScript. */
const [pieceBytesMin, pieceBytesMax] = [64 * 1024, 512 * 1024];

/** Rejects when the content fails, and ends the request then. */
async function sendContent(
  { onContent }: S3Message,
  stream: ReadableStream<Uint8Array>,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const source = piecesOf(stream);
  const writer = writable.getWriter();
  try {
    let buffer: ArrayBuffer | undefined;
    for (;;) {
      const value = await source.read(buffer);
      if (value === null) break;
      await writer.write(value);
      // The connection has taken the piece, so its memory is used again.
      buffer = value.buffer as ArrayBuffer;
      onContent?.(value.byteLength);
    }
    await writer.close();
  } catch (error) {
    await Promise.allSettled([source.cancel(error), writer.abort(error)]);
    throw error;
  }
}

interface Pieces {
  /** @param buffer the memory of a piece that is no longer needed */
  read(buffer?: ArrayBuffer): Promise<Uint8Array | null>;
  cancel(reason: unknown): Promise<void>;
}

/** A stream of the runtime in large pieces. Other streams have the pieces of their source. */
function piecesOf(stream: ReadableStream<Uint8Array>): Pieces {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    const plain = stream.getReader();
    return {
      read: async () => (await plain.read()).value ?? null,
      cancel: (reason) => plain.cancel(reason),
    };
  }
  return {
    async read(used) {
      const buffer = used?.byteLength === pieceBytesMax ? used : new ArrayBuffer(pieceBytesMax);
      const { value } = await reader.readAtLeast(pieceBytesMin, new Uint8Array(buffer));
      return value === undefined || value.length === 0 ? null : value;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function inPieces(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const source = piecesOf(stream);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const value = await source.read();
        if (value === null) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** @throws RemoteError refused, for the keys `.` and `..` without a prefix */
function urlOf({ origin, target }: S3Message): string {
  const text = origin + target;
  const { pathname, search } = new URL(text);
  if (pathname + search === target) return text;
  throw new RemoteError(
    "refused",
    `The path ${target} cannot be sent: the runtime resolves "." and ".." in the path of a URL. ` +
      "Use another key, or give the remote a prefix.",
  );
}

/**
 * workerd has no codes, and one text for a connection that was refused and for one that was lost: only
 * the probe, which runs in Node, tells them apart. So the outcome of a write is unknown.
 */
function explained(reason: string): string {
  if (!reason.startsWith("internal error")) return reason;
  return `the host name may be unknown, or the certificate not trusted (${reason})`;
}
