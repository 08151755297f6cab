/**
 * A connection of the client, for one HTTP request at a time. It reads what the servers of this
 * benchmark send: responses with a length, in chunks, or without a body.
 *
 * The clients of `node:http` and of undici take as long for a small request as a server does, and
 * would hide the difference between servers.
 */
import { connect, type Socket } from "node:net";

export interface HttpExchange {
  /** With the empty line. */
  readonly head: string;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Whether the response has no body, whatever its length says. */
  readonly isHead: boolean;
  /** Is called with each piece of the body. The next piece waits for a promise. */
  readonly receive: (piece: Buffer, status: number) => void | Promise<void>;
}

export interface HttpResponse {
  readonly status: number;
  /** With the status line, as the server has sent it. */
  readonly head: string;
}

/** The server has closed a connection that was idle: the request can be sent again. */
export class ClosedConnectionError extends Error {
  override readonly name = "ClosedConnectionError";
}

interface Pending {
  readonly exchange: HttpExchange;
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: Error) => void;
}

type State = "head" | "content" | "size of a chunk" | "end of a chunk" | "trailer";

export class HttpConnection {
  readonly #socket: Socket;
  #pending: Pending | null = null;
  #error: Error | undefined;
  #state: State = "head";
  /** The head, or the line, that has arrived in part. */
  #text = "";
  #response: HttpResponse | null = null;
  #isChunked = false;
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (bytes: Buffer) => void this.#read(bytes));
    this.#socket.on("error", (error) => (this.#error = error));
    this.#socket.on("close", () => {
      const error = this.#error ?? new Error("The server has closed the connection.");
      const isUnanswered = this.#response === null && this.#text === "";
      this.#pending?.reject(isUnanswered ? new ClosedConnectionError(error.message) : error);
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  close(): void {
    this.#socket.destroy();
  }

  async send(exchange: HttpExchange): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.#pending = { exchange, resolve, reject };
    const { head, body } = exchange;
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    if (body instanceof Uint8Array) this.#socket.write(body);
    this.#socket.uncork();
    if (body !== undefined && !(body instanceof Uint8Array)) await this.#stream(body);
    try {
      return await promise;
    } finally {
      this.#pending = null;
      this.#response = null;
    }
  }

  /** No faster than the server reads. */
  async #stream(body: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of body) {
      if (this.#socket.write(piece)) continue;
      await new Promise<void>((resolve) => {
        const proceed = (): void => {
          this.#socket.off("drain", proceed);
          this.#socket.off("close", proceed);
          resolve();
        };
        this.#socket.on("drain", proceed);
        this.#socket.on("close", proceed);
      });
      if (!this.isOpen) return;
    }
  }

  async #read(bytes: Buffer): Promise<void> {
    try {
      for (let rest = bytes; rest.length > 0;) {
        if (this.#state === "content") {
          const piece = rest.subarray(0, this.#left);
          rest = rest.subarray(piece.length);
          this.#left -= piece.length;
          const passed = this.#pass(piece);
          if (passed !== undefined) await passed;
          if (this.#left === 0) this.#endOfContent();
        } else rest = this.#readText(rest);
      }
    } catch (error) {
      this.#pending?.reject(error as Error);
      this.#socket.destroy();
    }
  }

  #pass(piece: Buffer): undefined | Promise<void> {
    const { status } = this.#response as HttpResponse;
    const received = this.#pending?.exchange.receive(piece, status);
    if (received === undefined) return undefined;
    this.#socket.pause();
    return received.then(() => void this.#socket.resume());
  }

  /** Returns what follows the head or the line. */
  #readText(bytes: Buffer): Buffer {
    const end = this.#state === "head" ? "\r\n\r\n" : "\r\n";
    const before = this.#text.length;
    this.#text += bytes.toString("latin1");
    const found = this.#text.indexOf(end);
    if (found === -1) return bytes.subarray(bytes.length);
    const text = this.#text.slice(0, found);
    this.#text = "";
    this.#take(text);
    return bytes.subarray(found + end.length - before);
  }

  #take(text: string): void {
    if (this.#state === "head") this.#takeHead(text);
    else if (this.#state === "size of a chunk") {
      this.#left = parseInt(text, 16);
      this.#state = this.#left === 0 ? "trailer" : "content";
    } else if (this.#state === "end of a chunk") this.#state = "size of a chunk";
    else if (text === "") this.#end();
  }

  #takeHead(head: string): void {
    const status = Number(head.slice(9, 12));
    this.#response = { status, head };
    this.#isChunked = /^transfer-encoding: *chunked\r?$/im.test(head);
    this.#left = Number(/^content-length: *(\d+)\r?$/im.exec(head)?.[1] ?? 0);
    const hasBody = this.#isChunked || this.#left > 0;
    if (!hasBody || this.#pending?.exchange.isHead || status === 204) this.#end();
    else this.#state = this.#isChunked ? "size of a chunk" : "content";
  }

  #endOfContent(): void {
    if (this.#isChunked) this.#state = "end of a chunk";
    else this.#end();
  }

  #end(): void {
    this.#state = "head";
    this.#pending?.resolve(this.#response as HttpResponse);
  }
}
