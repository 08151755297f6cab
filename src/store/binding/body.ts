/** What can be read of an object, once: the part of `Response` that objects have too. */
export interface Body {
  readonly body: ReadableStream | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}

const decoder = new TextDecoder();

/**
 * Bytes that are here already. Most are read whole, and handing them out as they are takes a
 * fraction of what a stream around them would; there is one as soon as somebody asks for it.
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
      // What was handed out has been read, and the stream has to show it.
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
