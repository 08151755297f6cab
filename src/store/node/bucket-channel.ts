/** The client's end of a channel to a bucket (`bucket/call-recorder.ts`), for many batches at a time. */
import { connect, type Socket } from "node:net";
import {
  type ChannelAnswer,
  type ChannelRequest,
  decodeFrame,
  type OutcomeMessage,
} from "../client/message.ts";
import { messageHead, WebSocketReader } from "../client/web-socket.ts";
import { EndpointClosedError, silenceMilliseconds } from "./endpoint-connection.ts";

interface WaitingRequest {
  readonly resolve: (answers: readonly OutcomeMessage[]) => void;
  readonly reject: (error: Error) => void;
}

export class BucketChannel {
  readonly #socket: Socket;
  readonly #reader = new WebSocketReader();
  readonly #waiting = new Map<ChannelRequest["id"], WaitingRequest>();
  #error: Error | undefined;

  /**
   * @param upgrade the request that opens the channel
   * @param onClose receives whether the channel was open before
   */
  constructor(path: string, upgrade: string, onClose: (wasOpen: boolean) => void) {
    const socket = connect(path);
    this.#socket = socket;
    // No process waits for an idle channel, nor for one that opens.
    socket.unref();
    socket.write(upgrade, "latin1");
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#error = error));
    socket.setTimeout(silenceMilliseconds, () =>
      socket.destroy(new Error(`no answer within ${silenceMilliseconds / 1000} s`)),
    );
    socket.once("close", () => {
      onClose(this.#reader.isOpen);
      const reason = this.#error?.message ?? "the connection was closed";
      for (const { reject } of this.#waiting.values()) reject(new EndpointClosedError(reason));
    });
  }

  /** Whether the channel can carry a batch. */
  get isOpen(): boolean {
    return this.#reader.isOpen && !this.#socket.destroyed;
  }

  /**
   * @param frame of a `ChannelRequest`
   * @throws EndpointClosedError when the channel ends before the answer
   */
  async send(id: string, frame: Uint8Array): Promise<readonly OutcomeMessage[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly OutcomeMessage[]>();
    this.#waiting.set(id, { resolve, reject });
    // A process does not end while it waits for an answer.
    this.#socket.ref();
    this.#socket.cork();
    this.#socket.write(messageHead(frame.length));
    this.#socket.write(frame);
    this.#socket.uncork();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#socket.unref();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Uint8Array): void {
    try {
      for (const message of this.#reader.push(chunk)) {
        const { id, answers } = decodeFrame<ChannelAnswer>(message.buffer);
        this.#waiting.get(id)?.resolve(answers);
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}
