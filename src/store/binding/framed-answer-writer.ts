/**
 * The answer to a `get` as one stream, for a reader in Node (`store/node/framed-answer.ts`): the
 * length of the head in four bytes, the head as JSON, and the content.
 *
 * A stream inside of another value does not survive cancellation on its way to Node. A content
 * stream that fails would leave the reader waiting, so the framed stream ends early; the reader
 * compares the length of the content with the head.
 */
import type { Opened } from "../client/bucket-calls.ts";

const chunkBytes = 64 * 1024;

export function writeFramedAnswer(opened: Opened | null): ReadableStream {
  const { content, ...head } = { content: undefined, ...opened };
  const encoded = new TextEncoder().encode(JSON.stringify(opened && head));
  const start = new Uint8Array(4 + encoded.length);
  new DataView(start.buffer).setUint32(0, encoded.length);
  start.set(encoded, 4);
  const body = content instanceof ArrayBuffer ? new Response(content).body : content;
  const reader = body?.getReader({ mode: "byob" });
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(start),
    async pull(controller) {
      try {
        const next = await reader?.read(new Uint8Array(chunkBytes));
        if (next !== undefined && !next.done) return controller.enqueue(next.value);
      } catch {
        // The reader sees that the content is shorter than the head says.
      }
      controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}
