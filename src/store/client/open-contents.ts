/**
 * The contents that a program in Node has opened.
 *
 * A response through Miniflare's proxy that is not read to its end keeps its connection, and
 * `dispose()` waits for the connection forever. So content does not travel as one response: the
 * file is opened and stays open here, and Node asks for one piece after the other as its reader
 * needs them (`node/pulled-content.ts`). Node reads each piece at once and whole.
 */
import { StreamSource } from "../content/byte-source.ts";

/** The size of one read of a file. Pieces are multiples of it. */
const readBytes = 64 * 1024;

export class OpenContents {
  readonly #sources = new Map<number, StreamSource>();
  #lastId = 0;

  /** Returns the id by which `read` and `close` know the content. */
  add(content: ReadableStream): number {
    const id = ++this.#lastId;
    this.#sources.set(id, new StreamSource(content));
    return id;
  }

  /**
   * The next `length` bytes, a multiple of `readBytes`. There are fewer at the end of the content,
   * and when the content fails: a failure would leave the reader waiting, and the reader knows how
   * long the content has to be. Content that has ended is closed.
   */
  read(id: number, length: number): ReadableStream {
    const source = this.#sources.get(id);
    let count = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await source?.read(new ArrayBuffer(readBytes)).catch(() => undefined);
        if (bytes !== undefined && bytes.length > 0) controller.enqueue(bytes);
        count += readBytes;
        if (bytes?.length === readBytes && count < length) return;
        controller.close();
        if (bytes?.length !== readBytes) await this.close([id]);
      },
      cancel: () => this.close([id]),
    });
  }

  async close(ids: readonly number[]): Promise<void> {
    const sources = ids.map((id) => this.#sources.get(id));
    for (const id of ids) this.#sources.delete(id);
    await Promise.allSettled(sources.map(async (source) => source?.cancel("The reader has ended")));
  }
}
