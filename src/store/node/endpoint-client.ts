/** HTTP requests to the endpoint of the owner's runtime (`store/endpoint`). */
import { Agent, request, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { encodeFrame } from "../transport/frame.ts";
import type { EndpointAddress } from "./store-owner.ts";

/** The endpoint does not answer, or belongs to another process now. The store may have a new owner. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

/** The runtime has refused the request. */
export class RequestRefusedError extends Error {
  override readonly name = "RequestRefusedError";
}

export interface EndpointRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
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

  /** Returns the response. The caller has to read its body. */
  async request(
    path: string,
    { body, content, ...options }: EndpointRequest = {},
  ): Promise<IncomingMessage> {
    const length = content?.length ?? body?.length ?? 0;
    const response = await this.#send(path, {
      method: options.method ?? "POST",
      headers: { ...options.headers, "content-length": String(length) },
      ...(content === undefined ? { body } : { stream: content.stream }),
    });
    if (response.statusCode === 200) return response;
    const text = (await readAll(response)).toString("utf8");
    if (response.statusCode !== 422) {
      throw new EndpointClosedError(`${response.statusCode}: ${text}`);
    }
    throw new RequestRefusedError((JSON.parse(text) as { message: string }).message);
  }

  async requestBytes(path: string, options?: EndpointRequest): Promise<Buffer> {
    const response = await this.request(path, options);
    try {
      return await readAll(response);
    } catch (error) {
      throw new EndpointClosedError((error as Error).message);
    }
  }

  async requestJson<Value>(path: string, options?: EndpointRequest): Promise<Value> {
    return JSON.parse((await this.requestBytes(path, options)).toString("utf8")) as Value;
  }

  #send(
    path: string,
    {
      stream,
      body,
      ...options
    }: {
      method: string;
      headers: Record<string, string>;
      stream?: Readable;
      body?: Uint8Array | undefined;
    },
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
        ...options,
        headers: { ...options.headers, authorization: `Bearer ${secret}` },
      });
      outgoing.once("response", resolve);
      outgoing.once("error", (error) =>
        reject(contentError ?? new EndpointClosedError(error.message)),
      );
      if (stream === undefined) return outgoing.end(body);
      stream.once("error", (error) => (contentError = error));
      pipeline(stream, outgoing, () => {
        // The handlers above receive the failures of both streams.
      });
    });
  }
}

/** The body of a request: a value as a frame. */
export async function frameBytes(value: object): Promise<Uint8Array> {
  return new Uint8Array(await encodeFrame(value).arrayBuffer());
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
