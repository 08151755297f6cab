/** Single signed requests to an S3 service, without retries, for measurements. */
import { createHttpTransport } from "../../../src/store/node/http-transport.ts";
import { readErrorDocument } from "../../../src/store/remote/s3-answer.ts";
import type { RemoteCredentials } from "../../../src/store/remote/remote-options.ts";
import { RequestSigner } from "../../../src/http/signature.ts";
import type { S3Message } from "../../../src/store/remote/s3-transport.ts";

interface RawRequest {
  readonly method: S3Message["method"];
  /** Encoded, as it is sent: `/bucket/key`. */
  readonly path: string;
  /** The path in the signature, if it is another. */
  readonly signedPath?: string;
  /** Encoded, in the order of the signature. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly unsignedHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The code of an error document. */
  readonly code: string | null;
}

export class RawService {
  readonly endpoint: string;
  readonly #signer: RequestSigner;
  readonly #transport = createHttpTransport();

  constructor(endpoint: string, credentials: RemoteCredentials) {
    this.endpoint = endpoint;
    this.#signer = new RequestSigner(credentials, "us-east-1");
  }

  async send(request: RawRequest): Promise<RawAnswer> {
    const { method, path, signedPath = path, query = "", headers = {}, body } = request;
    const host = new URL(this.endpoint).host;
    const signed = await this.#signer.sign(
      { method, host, path: signedPath, query, headers },
      Date.now(),
    );
    const answer = await this.#transport.send({
      method,
      origin: this.endpoint,
      target: query === "" ? path : `${path}?${query}`,
      headers: { ...signed, ...request.unsignedHeaders },
      ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await new Response(answer.body).text();
    const code = answer.status < 300 ? null : (readErrorDocument(text)?.code ?? null);
    return { status: answer.status, headers: answer.headers, text, code };
  }

  close(): void {
    this.#transport.close();
  }
}
