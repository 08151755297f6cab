/** HTTP requests to the endpoint of the owner's runtime (`store/endpoint`). */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "../../base/node-http.ts";
import { pipeline, type Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { UserError } from "../../base/user-error.ts";
import { encodeFrame } from "../transport/frame.ts";
import { requestIdHeader } from "../transport/request-id.ts";

/** The endpoint does not answer, or belongs to another process now. The store may have a new owner. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

/** The longest time for which an owner that works sends nothing: it copies a large object. */
const silenceMilliseconds = 120_000;

interface EndpointRequest {
  readonly method?: "GET" | "POST";
  /** Of a request with writes, the same in every repetition. */
  readonly id?: string;
  readonly headers?: Record<string, string>;
  /** A body: a value as a frame. */
  readonly frame?: object;
  /** A body of known length. When the stream fails, the request fails. */
  readonly content?: { readonly stream: Readable; readonly length: number };
}

export class EndpointClient {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(path: string) {
    this.#socketPath = path;
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Returns the response. The caller has to read its body.
   *
   * @throws UserError when the runtime refuses the request
   */
  async request(path: string, options: EndpointRequest = {}): Promise<IncomingMessage> {
    const { frame } = options;
    const body = frame && encodeFrame(frame);
    const response = await this.#send(path, options, body);
    if (response.statusCode === 200) return response;
    const message = await text(response);
    if (response.statusCode !== 422) {
      throw new EndpointClosedError(`${response.statusCode}: ${message}`);
    }
    throw new UserError((JSON.parse(message) as { message: string }).message);
  }

  async requestBytes(path: string, options?: EndpointRequest): Promise<Buffer> {
    const response = await this.request(path, options);
    try {
      return await buffer(response);
    } catch (error) {
      throw new EndpointClosedError((error as Error).message);
    }
  }

  async requestJson<Value>(path: string, options?: EndpointRequest): Promise<Value> {
    return JSON.parse((await this.requestBytes(path, options)).toString("utf8")) as Value;
  }

  #send(
    path: string,
    { method = "POST", id, headers, content }: EndpointRequest,
    body: Uint8Array | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      /** The error of the content, which is not an error of the endpoint. */
      let contentError: Error | undefined;
      const outgoing = request({
        socketPath: this.#socketPath,
        path,
        agent: this.#agent,
        method,
        headers: {
          ...headers,
          ...(id !== undefined && { [requestIdHeader]: id }),
          "content-length": content?.length ?? body?.length ?? 0,
        },
      });
      outgoing.once("response", resolve);
      outgoing.setTimeout(silenceMilliseconds, () =>
        outgoing.destroy(new Error(`no answer within ${silenceMilliseconds / 1000} s`)),
      );
      outgoing.once("error", (error) =>
        reject(contentError ?? new EndpointClosedError(error.message)),
      );
      if (content === undefined) return outgoing.end(body);
      content.stream.once("error", (error) => (contentError = error));
      pipeline(content.stream, outgoing, () => {
        // The handlers above receive the failures of both streams.
      });
    });
  }
}
