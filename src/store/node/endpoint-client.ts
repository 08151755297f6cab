/** Requests to the endpoint of a runtime (`store/endpoint`). */
import { Agent, request, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import type { EndpointAddress } from "./store-owner.ts";

/** Nobody answers at the endpoint any more, or somebody else. Another may have the store by now. */
export class EndpointClosedError extends Error {
  override readonly name = "EndpointClosedError";
}

/** The runtime has answered, and says no. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

export interface EndpointRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
  /** Content of a known length. When it fails, so does the request. */
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

  /** The answer, whose body has to be read. */
  async ask(
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
    if (response.statusCode !== 422)
      throw new EndpointClosedError(`${response.statusCode}: ${text}`);
    throw new RefusedError((JSON.parse(text) as { message: string }).message);
  }

  async askBytes(path: string, options?: EndpointRequest): Promise<Buffer> {
    const response = await this.ask(path, options);
    try {
      return await readAll(response);
    } catch (error) {
      throw new EndpointClosedError((error as Error).message);
    }
  }

  async askJson<Value>(path: string, options?: EndpointRequest): Promise<Value> {
    return JSON.parse((await this.askBytes(path, options)).toString("utf8")) as Value;
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
      /** What the content itself failed with: that is no fault of the endpoint's. */
      let failure: Error | undefined;
      const outgoing = request({
        host: "127.0.0.1",
        port,
        path,
        agent: this.#agent,
        ...options,
        headers: { ...options.headers, authorization: `Bearer ${secret}` },
      });
      outgoing.once("response", resolve);
      outgoing.once("error", (error) => reject(failure ?? new EndpointClosedError(error.message)));
      if (stream === undefined) return outgoing.end(body);
      stream.once("error", (error) => (failure = error));
      pipeline(stream, outgoing, () => {
        // Failures of either side arrive above.
      });
    });
  }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
