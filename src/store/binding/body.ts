/** The part of `Response` that reads the content of an object, once. */
export type Body = Pick<Response, "body" | "bodyUsed" | "arrayBuffer" | "text">;

const decoder = new TextDecoder();

/**
 * A body whose bytes are in memory. Most scripts read the whole body, and returning the bytes takes
 * a fraction of the time of a stream. A stream is made only when the script asks for `body`.
 */
export class BytesBody implements Body {
  #bytes: ArrayBuffer;
  #used = false;
  #response: Response | undefined;

  constructor(bytes: ArrayBuffer) {
    this.#bytes = bytes;
  }

  get body(): ReadableStream | null {
    if (this.#response === undefined) {
      this.#response = new Response(this.#bytes);
      // The bytes have been read, so the stream has to be disturbed.
      if (this.#used) void this.#response.arrayBuffer();
    }
    return this.#response.body;
  }

  get bodyUsed(): boolean {
    return this.#used || (this.#response?.bodyUsed ?? false);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response === undefined ? this.#use() : this.#response.arrayBuffer();
  }

  async text(): Promise<string> {
    return this.#response === undefined ? decoder.decode(this.#use()) : this.#response.text();
  }

  #use(): ArrayBuffer {
    if (this.#used) {
      throw new TypeError(
        "Body has already been used. It can only be used once. " +
          "Use tee() first if you need to read it twice.",
      );
    }
    this.#used = true;
    return this.#bytes;
  }
}
