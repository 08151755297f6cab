/** A stream on its way to workerd: it always ends well, with a mark (`core/end-of-stream-mark.ts`). */
import { endOfStreamMark } from "../core/end-of-stream-mark.ts";

export class MarkedStream {
  readonly readable: ReadableStream<Uint8Array>;
  /** What the source failed with, if it did. */
  failure: { readonly error: unknown } | undefined;

  constructor(source: ReadableStream) {
    const reader = (source as ReadableStream<Uint8Array>).getReader();
    this.readable = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.enqueue(Uint8Array.of(endOfStreamMark.whole));
        } catch (error) {
          this.failure = { error };
          controller.enqueue(Uint8Array.of(endOfStreamMark.broken));
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
}
