/** Requests to the endpoint of the owner's runtime (`store/bucket/endpoint.ts`). */
import { UserError } from "../../base/user-error.ts";
import type { Operation } from "../core/operations.ts";
import {
  clientHeader,
  type ClientName,
  decodeFrame,
  encodeFrame,
  type OutcomeMessage,
  requestIdHeader,
} from "../client/message.ts";
import type { ReceivedResponse } from "../client/web-socket.ts";
import { BucketChannels } from "./bucket-channels.ts";
import { EndpointClosedError, EndpointConnection, endpointPath } from "./endpoint-connection.ts";

interface EndpointRequest {
  readonly method?: "GET" | "POST";
  /** Of a request with writes, the same in every repetition. */
  readonly id?: string;
  /** A body: a value as a frame. */
  readonly frame?: object;
}

export class EndpointClient {
  readonly #socketPath: string;
  /** The lines of a request that name this program. */
  readonly #clientLines: readonly string[];
  readonly #channels: BucketChannels;
  readonly #connections = new Set<EndpointConnection>();
  /** The connections without a request, the last used at the end. */
  #idle: EndpointConnection[] = [];

  constructor(path: string, clientName?: ClientName) {
    this.#socketPath = path;
    this.#clientLines = clientName === undefined ? [] : [`${clientHeader}: ${clientName}`];
    this.#channels = new BucketChannels(path, this.#clientLines);
  }

  close(): void {
    this.#channels.close();
    for (const connection of this.#connections) connection.close();
  }

  /**
   * Executes a batch: through the channel of the bucket, if the channel can carry it.
   *
   * @param id the same in every repetition
   * @throws UserError when the runtime refuses the batch
   */
  async execute(
    bucketName: string,
    id: string,
    operations: readonly Operation[],
  ): Promise<readonly OutcomeMessage[]> {
    const answers = await this.#channels.send(bucketName, { id, operations });
    if (answers !== null) return answers;
    const { buffer } = await this.requestBytes(`/execute/${bucketName}`, { id, frame: operations });
    return decodeFrame(buffer);
  }

  /** @throws UserError when the runtime refuses the request */
  async requestBytes(
    path: string,
    options: EndpointRequest = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { status, body } = await this.#send(path, options);
    if (status === 200) return body;
    const message = textOf(body);
    if (status !== 422) throw new EndpointClosedError(`${status}: ${message}`);
    throw new UserError((JSON.parse(message) as { message: string }).message);
  }

  async requestText(path: string, options?: EndpointRequest): Promise<string> {
    return textOf(await this.requestBytes(path, options));
  }

  async requestJson<Value>(path: string, options?: EndpointRequest): Promise<Value> {
    return JSON.parse(await this.requestText(path, options)) as Value;
  }

  async #send(
    path: string,
    { method = "POST", id, frame }: EndpointRequest,
  ): Promise<ReceivedResponse> {
    const body = frame && encodeFrame(frame);
    const connection = this.#idle.pop() ?? this.#connect();
    const lines = [
      `${method} ${path} HTTP/1.1`,
      "host: store",
      ...this.#clientLines,
      ...(id === undefined ? [] : [`${requestIdHeader}: ${id}`]),
      `content-length: ${body?.length ?? 0}`,
      "\r\n",
    ];
    const response = await connection.send(lines.join("\r\n"), body);
    if (connection.isOpen) this.#idle.push(connection);
    return response;
  }

  #connect(): EndpointConnection {
    const connection = new EndpointConnection(this.#socketPath, () => {
      this.#connections.delete(connection);
      this.#idle = this.#idle.filter((each) => each !== connection);
    });
    this.#connections.add(connection);
    return connection;
  }
}

/**
 * Opens the buckets of the owner's runtime, so that the first call of a script does not have to.
 * No caller waits for the answer: a bucket that cannot be opened says why when it is called.
 */
export async function openBuckets(folder: string): Promise<void> {
  const endpoint = new EndpointClient(endpointPath(folder));
  try {
    await endpoint.requestBytes("/open");
  } catch {
    // The runtime has ended, or another runtime answers.
  } finally {
    endpoint.close();
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
