/** A connection to the store's endpoint, for one request at a time. */
import { socketPath } from "../../state/sockets.ts";
import { connect, type Socket } from "node:net";
import { ResponseReader, type ReceivedResponse } from "../client/web-socket.ts";

/** The socket at which the owner of a store answers. */
export function endpointPath(folder: string): string {
  return socketPath(folder, "endpoint");
}

/** The endpoint does not answer, or belongs to another process now. The store may have a new owner. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

/** The longest time for which an owner that works sends nothing: it copies a large object. */
export const silenceMilliseconds = 120_000;

interface PendingRequest {
  readonly reader: ResponseReader;
  readonly resolve: (response: ReceivedResponse) => void;
  readonly reject: (error: Error) => void;
}

export class EndpointConnection {
  readonly #socket: Socket;
  #pending: PendingRequest | null = null;
  #error: Error | undefined;

  constructor(path: string, onClose: () => void) {
    const socket = connect(path);
    this.#socket = socket;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#error = error));
    socket.setTimeout(silenceMilliseconds, () =>
      socket.destroy(new Error(`no answer within ${silenceMilliseconds / 1000} s`)),
    );
    socket.once("close", () => {
      onClose();
      const reason = this.#error?.message ?? "the connection was closed";
      this.#pending?.reject(new EndpointClosedError(reason));
    });
  }

  /** Whether the connection can carry another request. */
  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /**
   * @param head with the empty line
   * @throws EndpointClosedError when the connection ends before the response
   */
  async send(head: string, body?: Uint8Array): Promise<ReceivedResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ReceivedResponse>();
    this.#pending = { reader: new ResponseReader(), resolve, reject };
    // A process does not end while it waits for an answer.
    this.#socket.ref();
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    if (body !== undefined) this.#socket.write(body);
    this.#socket.uncork();
    try {
      return await promise;
    } finally {
      this.#pending = null;
      this.#socket.unref();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Uint8Array): void {
    try {
      if (this.#pending === null) throw new Error("a response without a request");
      const response = this.#pending.reader.push(chunk);
      if (response !== null) this.#pending.resolve(response);
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}
