/**
 * The channels of a process to the buckets that it uses.
 *
 * A channel is opened beside the second batch for a bucket, so no batch waits for a channel, and a
 * process with one batch opens none. The batches before the channel is open, those that are too
 * large, and those whose channel has ended travel by requests.
 */
import { encodeFrame, type ChannelRequest, type OutcomeMessage } from "../client/message.ts";
import { upgradeRequest } from "../client/web-socket.ts";
import { BucketChannel } from "./bucket-channel.ts";

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
