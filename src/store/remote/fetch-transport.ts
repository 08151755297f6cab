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
    contentFailure = message.body.stream.pipeTo(writable).then(
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
    const isSized = content !== null && answered.has("content-length");
    return { status, headers: answered, body: content, ...(isSized && { runtimeBody: content }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // The end of a request that has used its time ends the content, too.
    const contentError = signal.aborted ? null : await contentFailure;
    if (contentError !== null && contentError.message !== reason) throw contentError;
    throw new TransportError("lost", explained(reason.replace(/\.$/, "")), { cause: error });
  }
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
