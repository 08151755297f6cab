/**
 * Content that Node receives from the runtime in pieces (`client/proxied-calls.ts`).
 *
 * No piece is asked for before the program reads. A piece is received whole, even when the program
 * stops reading: the next piece is asked for when less than half of a piece waits to be read. So
 * memory is bounded, and no response of the runtime stays unread.
 */
const firstPieceBytes = 1024 * 1024;
const pieceBytes = 4 * 1024 * 1024;

export interface PieceCalls {
  /** The next `length` bytes; fewer when the content ends. */
  read(id: number, length: number): Promise<ReadableStream<Uint8Array>>;
  close(ids: readonly number[]): void;
}

interface ContentDescription {
  readonly id: number;
  readonly length: number;
  /** Makes the error of content that ends before `length`. */
  readonly onShort: (count: number) => Error;
}

export class PulledContents {
  readonly #calls: PieceCalls;
  /** Closes the contents of streams that the program has dropped without reading them. */
  readonly #dropped = new FinalizationRegistry<number>((id) => this.#close(id));
  readonly #closing: number[] = [];

  constructor(calls: PieceCalls) {
    this.#calls = calls;
  }

  open(content: ContentDescription): ReadableStream<Uint8Array> {
    const pieces = new PieceReader(this.#calls, content);
    const end = (): void => {
      this.#dropped.unregister(pieces);
      this.#close(content.id);
    };
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const chunk = await pieces.next();
            if (chunk !== null) return controller.enqueue(chunk);
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          end();
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
    this.#dropped.register(stream, content.id, pieces);
    return stream;
  }

  /** Contents that are closed in the same turn are closed by one call. */
  #close(id: number): void {
    if (this.#closing.push(id) > 1) return;
    setImmediate(() => this.#calls.close(this.#closing.splice(0))).unref();
  }
}

class PieceReader {
  readonly #calls: PieceCalls;
  readonly #content: ContentDescription;
  #chunks: Uint8Array[] = [];
  /** Bytes that have arrived and that the program has not read. */
  #waitingBytes = 0;
  #arrivedBytes = 0;
  #askedBytes = 0;
  #isReceiving = false;
  #failure: { readonly error: unknown } | undefined;
  #progress = Promise.withResolvers<void>();

  constructor(calls: PieceCalls, content: ContentDescription) {
    this.#calls = calls;
    this.#content = content;
  }

  /** The next bytes; `null` at the end. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = this.#chunks.shift();
      this.#waitingBytes -= chunk?.length ?? 0;
      this.#askAhead();
      if (chunk !== undefined) return chunk;
      if (this.#failure !== undefined) throw this.#failure.error;
      if (!this.#isReceiving) return null;
      await this.#progress.promise;
    }
  }

  #askAhead(): void {
    const isNeeded = !this.#isReceiving && this.#failure === undefined;
    const isAllAsked = this.#askedBytes >= this.#content.length;
    if (!isNeeded || isAllAsked || this.#waitingBytes > pieceBytes / 2) return;
    this.#isReceiving = true;
    void this.#receive(this.#askedBytes === 0 ? firstPieceBytes : pieceBytes)
      .catch((error: unknown) => (this.#failure = { error }))
      .finally(() => {
        this.#isReceiving = false;
        this.#wake();
      });
  }

  async #receive(bytes: number): Promise<void> {
    const { id, length, onShort } = this.#content;
    this.#askedBytes = Math.min(this.#askedBytes + bytes, length);
    for await (const chunk of await this.#calls.read(id, bytes)) {
      this.#arrivedBytes += chunk.length;
      this.#waitingBytes += chunk.length;
      this.#chunks.push(chunk);
      this.#wake();
    }
    if (this.#arrivedBytes < this.#askedBytes) throw onShort(this.#arrivedBytes);
  }

  #wake(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }
}
