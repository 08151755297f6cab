/**
 * A stream from Node to workerd whose last byte, the end-of-stream mark, says whether the stream
 * before it is complete.
 *
 * A stream that fails on its way through Miniflare's proxy fails the call with an error of the
 * transport, and leaves a rejection that no code handles. So the stream to workerd never fails: it
 * ends with a mark instead. `content/byte-source.ts` reads the mark.
 */
export const endOfStreamMark = { complete: 1, failed: 0 } as const;

export class MarkedStream {
  readonly readable: ReadableStream<Uint8Array>;
  /** The error of the source, if the source failed. */
  failure: { readonly error: unknown } | undefined;

  constructor(source: ReadableStream) {
    const reader = (source as ReadableStream<Uint8Array>).getReader();
    this.readable = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.enqueue(Uint8Array.of(endOfStreamMark.complete));
        } catch (error) {
          this.failure = { error };
          controller.enqueue(Uint8Array.of(endOfStreamMark.failed));
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
}
