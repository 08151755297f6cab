/** Writes a response to Node's HTTP server, no faster than the browser reads. */
import type { ServerResponse } from "node:http";
import type { ExplorerResponse } from "./call.ts";

/** No response is kept by a cache, guessed at, or framed by another page. */
const commonHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Resolves when the response has been sent, or when the browser has gone away. */
export async function send(
  response: ServerResponse,
  { status, headers, body }: ExplorerResponse,
  isHead: boolean,
): Promise<void> {
  const all = { ...commonHeaders, ...headers };
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string);
    response.writeHead(status, { "content-length": String(bytes.length), ...all });
    response.end(isHead ? undefined : bytes);
    return;
  }
  response.writeHead(status, all);
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = isHead ? { done: true, value: undefined } : await chunks.next();
      if (done || value === undefined || response.destroyed) break;
      // The memory of a chunk is used again, so the system must have the bytes first.
      await new Promise<void>((resolve) => response.write(value, () => resolve()));
    }
    response.end();
  } finally {
    // Releases what the body holds, also when the browser has not read all of it.
    await chunks.return?.();
  }
}
