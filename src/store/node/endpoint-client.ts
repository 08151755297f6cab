/** HTTP requests to the endpoint of the owner's runtime (`store/endpoint`). */
import { Agent, request, type IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { UserError } from "../../base/user-error.ts";
import { encodeFrame } from "../transport/frame.ts";
import type { EndpointAddress } from "./store-owner.ts";

/** The endpoint does not answer, or belongs to another process now. The store may have a new owner. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

interface EndpointRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Record<string, string>;
  /** A body: a value as a frame. */
  readonly frame?: object;
  /** A body of known length. When the stream fails, the request fails. */
  readonly content?: { readonly stream: Readable; readonly length: number };
}

export class EndpointClient {
  readonly #endpoint: EndpointAddress;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(endpoint: EndpointAddress) {
    this.#endpoint = endpoint;
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
    const body = frame && new Uint8Array(await encodeFrame(frame).arrayBuffer());
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
    { method = "POST", headers, content }: EndpointRequest,
    body: Uint8Array | undefined,
  ): Promise<IncomingMessage> {
    const { port, secret } = this.#endpoint;
    return new Promise((resolve, reject) => {
      /** The error of the content, which is not an error of the endpoint. */
      let contentError: Error | undefined;
      const outgoing = request({
        host: "127.0.0.1",
        port,
        path,
        agent: this.#agent,
        method,
        headers: {
          ...headers,
          "content-length": content?.length ?? body?.length ?? 0,
          authorization: `Bearer ${secret}`,
        },
      });
      outgoing.once("response", resolve);
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
