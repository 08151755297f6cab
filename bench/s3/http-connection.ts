/**
 * A connection of the client, for one HTTP request at a time. The client of `node:http` takes twice
 * the processor time for a small request, and would hide the difference between servers.
 */
import { connect, type Socket } from "node:net";
import { ResponseEnd } from "../../src/base/node-http.ts";

export interface HttpExchange {
  /** With the empty line. */
  readonly head: string;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Is called with each piece of the body. The next piece waits for a promise. */
  readonly receive: (piece: Uint8Array, status: number) => void | Promise<void>;
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
  readonly end: ResponseEnd;
  response?: HttpResponse;
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: Error) => void;
}

export class HttpConnection {
  readonly #socket: Socket;
  #pending: Pending | null = null;
  #error: Error | undefined;

  /** @param memory into which responses are read: a piece is valid until the next. Default: memory for each piece */
  constructor(port: number, memory?: Uint8Array) {
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.#read(bytes.subarray(0, length));
      return true;
    };
    const onread = memory && { onread: { buffer: memory, callback } };
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, ...onread });
    if (memory === undefined) this.#socket.on("data", (bytes) => this.#read(bytes));
    this.#socket.on("error", (error) => (this.#error = error));
    this.#socket.on("close", () => {
      const error = this.#error ?? new Error("The server has closed the connection.");
      const isUnanswered = this.#pending?.response === undefined;
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
    const { head, body } = exchange;
    const end = new ResponseEnd(head, {
      onHead: (received, status) => {
        if (this.#pending !== null) this.#pending.response = { head: received, status };
      },
      onContent: (piece) => this.#pass(piece),
    });
    this.#pending = { exchange, end, resolve, reject };
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    if (body instanceof Uint8Array) this.#socket.write(body);
    this.#socket.uncork();
    if (body !== undefined && !(body instanceof Uint8Array)) await this.#stream(body);
    try {
      return await promise;
    } finally {
      this.#pending = null;
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

  #read(bytes: Uint8Array): void {
    try {
      if (this.#pending?.end.take(bytes) == null) return;
      this.#pending.resolve(this.#pending.response as HttpResponse);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Reads no further until the caller has taken the piece. */
  #pass(piece: Uint8Array): void {
    const { exchange, response } = this.#pending as Pending;
    const received = exchange.receive(piece, response?.status ?? 0);
    if (received === undefined) return;
    this.#socket.pause();
    received.then(
      () => void this.#socket.resume(),
      (error: Error) => this.#fail(error),
    );
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#socket.destroy();
  }
}
