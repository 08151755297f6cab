/**
 * The endpoint of the owner's runtime (`store/bucket/endpoint.ts`), as other processes reach it.
 *
 * The batches of a bucket travel through a channel, a WebSocket to the bucket. A channel is opened beside the
 * second batch, so no batch waits for a channel, and a process with one batch opens none. The batches
 * before the channel is open, those that are too large, and those whose channel has ended travel by HTTP
 * requests, which take more time: the endpoint answers them also when the bucket fails.
 */
import type { Outcome } from "../core/operations.ts";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { request as requestHttp } from "../../base/node-http.ts";
import { UserError } from "../../base/user-error.ts";
import { socketPath } from "../../state/sockets.ts";
import {
  clientHeader,
  decodeFrame,
  encodeFrame,
  requestIdHeader,
  type ChannelAnswer,
  type ChannelRequest,
  type ClientName,
} from "../client/message.ts";
import { messageHead, upgradeRequest, WebSocketReader } from "../client/web-socket.ts";

export function endpointPath(folder: string): string {
  return socketPath(folder, "endpoint");
}

/** The endpoint does not answer, or belongs to another process now. The store may have a new owner. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

/** The longest time for which an owner that works sends nothing: it copies a large object. */
const silenceMilliseconds = 120_000;
/** Half of what workerd receives in one message, and more than the queue puts into most batches. */
const messageBytesMax = 16 * 1024 * 1024;
/** A channel holds a connection for two minutes after its last batch. */
const channelsMax = 100;

interface EndpointRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export class EndpointClient {
  readonly #socketPath: string;
  readonly #clientHeaders: Readonly<Record<string, string>>;
  readonly #closing = new AbortController();
  readonly #channels = new Map<string, AnsweringSocket<readonly Outcome[]>>();
  readonly #used = new Set<string>();

  constructor(folder: string, clientName?: ClientName) {
    this.#socketPath = endpointPath(folder);
    this.#clientHeaders = clientName === undefined ? {} : { [clientHeader]: clientName };
  }

  close(): void {
    this.#closing.abort();
    for (const channel of this.#channels.values()) channel.close();
  }

  /**
   * @param request has the same id in every repetition
   * @throws UserError when the runtime refuses the batch, EndpointClosedError
   */
  async execute(bucketName: string, request: ChannelRequest): Promise<readonly Outcome[]> {
    const { id, operations } = request;
    const channel = this.#channels.get(bucketName);
    if (channel?.isOpen) {
      const frame = encodeFrame(request);
      if (frame.length <= messageBytesMax) return channel.ask(id, frame);
    } else if (channel === undefined) this.#openChannel(bucketName);
    const answer = await this.request(`/execute/${bucketName}`, {
      headers: { [requestIdHeader]: id },
      body: encodeFrame(operations),
    });
    return decodeFrame(new Uint8Array(answer).buffer);
  }

  /** @throws UserError when the runtime refuses the request, EndpointClosedError */
  async request(
    path: string,
    { method = "POST", headers, body }: EndpointRequest = {},
  ): Promise<Buffer> {
    const sent = requestHttp({
      socketPath: this.#socketPath,
      path,
      method,
      headers: { ...this.#clientHeaders, ...headers, "content-length": body?.length ?? 0 },
      // workerd closes idle connections, and a request that meets the end of its connection is lost.
      agent: false,
      signal: this.#closing.signal,
      timeout: silenceMilliseconds,
    });
    sent.once("timeout", () => sent.destroy(silence(silenceMilliseconds)));
    // An error after the response also fails the read of the response.
    sent.on("error", () => {});
    sent.end(body);
    let status: number | undefined;
    let content: Buffer;
    try {
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      status = response.statusCode;
      content = await buffer(response);
    } catch (error) {
      throw new EndpointClosedError((error as Error).message);
    }
    if (status === 200) return content;
    const message = content.toString();
    if (status !== 422) throw new EndpointClosedError(`${status}: ${message}`);
    throw new UserError((JSON.parse(message) as { message: string }).message);
  }

  #openChannel(bucketName: string): void {
    const isSecond = this.#used.has(bucketName);
    this.#used.add(bucketName);
    if (!isSecond || this.#channels.size >= channelsMax) return;
    const channel = new AnsweringSocket({
      address: { path: this.#socketPath },
      path: `/channel/${bucketName}`,
      headers: { host: "store", ...this.#clientHeaders },
      silenceMilliseconds,
      endsIdle: true,
      decode(message) {
        const { id, answers } = decodeFrame<ChannelAnswer>(message.buffer);
        return { id, answer: answers };
      },
    });
    this.#channels.set(bucketName, channel);
    void channel.ended.then(() => this.#channels.delete(bucketName));
  }
}

/**
 * Opens the buckets of the owner's runtime, so that the first call of a script does not have to.
 * No caller waits for the answer: a bucket that cannot be opened says why when it is called.
 */
export async function openBuckets(folder: string): Promise<void> {
  await new EndpointClient(folder).request("/open").catch(() => {});
}

export interface SocketPlace {
  readonly address: NetConnectOpts;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface AnsweringSocketOptions<Answer> extends SocketPlace {
  readonly silenceMilliseconds: number;
  /** Whether the connection ends after so long without a request. */
  readonly endsIdle: boolean;
  readonly decode: (message: Uint8Array<ArrayBuffer>) => { id: string | number; answer: Answer };
}

/** A WebSocket whose other end answers each message: a channel of a bucket, or held faults. */
export class AnsweringSocket<Answer> {
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #decode: AnsweringSocketOptions<Answer>["decode"];
  readonly #reader = new WebSocketReader();
  readonly #waiting = new Map<string | number, PromiseWithResolvers<Answer>>();
  /** The messages that wait for the upgrade. */
  #unsent: Uint8Array[] = [];

  constructor(options: AnsweringSocketOptions<Answer>) {
    const { address, path, headers, decode } = options;
    const socket = connect(address);
    this.#socket = socket;
    this.#decode = decode;
    // A process ends although a socket is idle, or opens.
    socket.unref();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(upgradeRequest(path, lines), "latin1");
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.setTimeout(options.silenceMilliseconds, () => {
      if (options.endsIdle || this.#waiting.size > 0) {
        socket.destroy(silence(options.silenceMilliseconds));
      }
    });
    let reason = "the connection was closed";
    socket.on("error", ({ message }) => (reason = message));
    this.ended = new Promise((resolve) => {
      socket.once("close", () => {
        for (const { reject } of this.#waiting.values()) reject(new EndpointClosedError(reason));
        resolve();
      });
    });
  }

  get isOpen(): boolean {
    return this.#reader.isOpen && !this.#socket.destroyed;
  }

  /** @throws EndpointClosedError when the connection ends before the answer */
  async ask(id: string | number, message: Uint8Array): Promise<Answer> {
    if (this.#socket.destroyed) throw new EndpointClosedError("the connection was closed");
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting.set(id, waiting);
    // A process does not end while it waits for an answer.
    this.#socket.ref();
    if (this.#reader.isOpen) this.#write(message);
    else this.#unsent.push(message);
    try {
      return await waiting.promise;
    } finally {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#socket.unref();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #write(message: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(messageHead(message.length));
    this.#socket.write(message);
    this.#socket.uncork();
  }

  #receive(chunk: Uint8Array): void {
    try {
      const messages = this.#reader.push(chunk);
      if (this.#reader.isOpen) for (const each of this.#unsent.splice(0)) this.#write(each);
      for (const message of messages) {
        const { id, answer } = this.#decode(message);
        this.#waiting.get(id)?.resolve(answer);
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}

function silence(milliseconds: number): Error {
  return new Error(`no answer within ${milliseconds / 1000} s`);
}
