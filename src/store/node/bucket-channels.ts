/**
 * The channels of a process to the buckets that it uses.
 *
 * A channel is opened beside the second batch for a bucket, so no batch waits for a channel, and a
 * process with one batch opens none. The batches before the channel is open, those that are too
 * large, and those whose channel has ended travel by requests.
 */
import { connect, type Socket } from "node:net";
import {
  type ChannelAnswer,
  type ChannelRequest,
  decodeFrame,
  encodeFrame,
  type OutcomeMessage,
} from "../client/message.ts";
import { messageHead, upgradeRequest, WebSocketReader } from "../client/web-socket.ts";
import { EndpointClosedError, silenceMilliseconds } from "./endpoint-connection.ts";

/** Half of what workerd receives in one message, and more than the queue puts into most batches. */
const messageBytesMax = 16 * 1024 * 1024;
/** A channel holds a connection for two minutes after its last batch. */
const channelsMax = 100;
/** After an upgrade that the owner has refused: the owner may have an earlier version. */
const pauseMilliseconds = 1_000;

export class BucketChannels {
  readonly #socketPath: string;
  readonly #headerLines: readonly string[];
  readonly #channels = new Map<string, BucketChannel>();
  /** When the next channel of a bucket may be opened, for the buckets that this process has used. */
  readonly #opensAfter = new Map<string, number>();

  /** @param headerLines of the requests that open channels */
  constructor(path: string, headerLines: readonly string[] = []) {
    this.#socketPath = path;
    this.#headerLines = headerLines;
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
  }

  /**
   * @returns `null` when the batch has to travel by a request
   * @throws EndpointClosedError when the channel ends before the answer
   */
  async send(
    bucketName: string,
    request: ChannelRequest,
  ): Promise<readonly OutcomeMessage[] | null> {
    const channel = this.#channels.get(bucketName);
    if (channel === undefined) this.#open(bucketName);
    if (!channel?.isOpen) return null;
    const frame = encodeFrame(request);
    return frame.length > messageBytesMax ? null : channel.send(request.id, frame);
  }

  #open(bucketName: string): void {
    const time = this.#opensAfter.get(bucketName);
    if (time === undefined) return void this.#opensAfter.set(bucketName, 0);
    if (Date.now() < time || this.#channels.size >= channelsMax) return;
    const channel = new BucketChannel(this.#socketPath, this.#upgrade(bucketName), (wasOpen) => {
      this.#channels.delete(bucketName);
      if (!wasOpen) this.#opensAfter.set(bucketName, Date.now() + pauseMilliseconds);
    });
    this.#channels.set(bucketName, channel);
  }

  #upgrade(bucketName: string): string {
    return upgradeRequest(`/channel/${bucketName}`, ["host: store", ...this.#headerLines]);
  }
}

interface WaitingRequest {
  readonly resolve: (answers: readonly OutcomeMessage[]) => void;
  readonly reject: (error: Error) => void;
}

/** The client's end of a channel to a bucket (`bucket/call-recorder.ts`), for many batches at a time. */
class BucketChannel {
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
