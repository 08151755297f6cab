/** The content of an open object, as the body of a response. */
import type { FoundObject } from "../../store/node/bucket.ts";

/**
 * Closes the content at the end, and also when the response ends early. A generator would not: the
 * end of a generator that was never started runs no code of it, and a `HEAD` request starts none.
 */
export class OpenedContent implements AsyncIterable<Uint8Array> {
  readonly #content: FoundObject["content"];

  constructor({ content }: Pick<FoundObject, "content">) {
    this.#content = content;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const content = this.#content;
    const chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array> =
      content instanceof Uint8Array ? [content].values() : content.chunks();
    return {
      next: async () => chunks.next(),
      return: async () => {
        await chunks.return?.();
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  close(): void {
    if (!(this.#content instanceof Uint8Array)) this.#content.close();
  }
}
