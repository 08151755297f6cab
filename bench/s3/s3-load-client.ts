/**
 * The client of all servers: it signs requests with AWS's signature, version 4, and sends them over
 * connections that stay open. It does nothing else, so that the servers take most of the time.
 */
import { createHmac, hash } from "node:crypto";
import {
  ClosedConnectionError,
  HttpConnection,
  type HttpExchange,
  type HttpResponse,
} from "./http-connection.ts";
import type { ServerAddress } from "./server-process.ts";

export type PayloadForm = "unsigned" | "signed";

/** The content of a request, and its SHA-256, which is computed before the clock starts. */
export interface LoadBody {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** Content that is not in memory. */
export interface LoadStream {
  readonly content: () => AsyncIterable<Uint8Array>;
  readonly length: number;
}

export interface LoadResponse {
  readonly etag: string;
}

export interface LoadRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The key, and the query in the order of its names: `list?prefix=a&x=`. */
  readonly target: string;
  readonly body?: LoadBody | LoadStream;
  /** A stream is unsigned. */
  readonly payload?: PayloadForm;
}

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

type Receive = (piece: Uint8Array) => void | Promise<void>;

export class S3LoadClient {
  readonly #address: ServerAddress;
  readonly #idle: HttpConnection[] = [];
  readonly #day = timestamp().slice(0, 8);
  readonly #scope = `${this.#day}/auto/s3/aws4_request`;
  readonly #key: Buffer;

  constructor(address: ServerAddress) {
    this.#address = address;
    const secret = Buffer.from(`AWS4${address.secretAccessKey}`);
    this.#key = [this.#day, "auto", "s3", "aws4_request"].reduce<Buffer>(hmac, secret);
  }

  get deletesAtOnce(): number {
    return this.#address.deletesAtOnce ?? 8;
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  /**
   * Resolves at the end of the response. Rejects a status that is not 2xx.
   *
   * @param receive is called with each piece of the body. The next piece waits for a promise
   */
  async send(sent: LoadRequest, receive: Receive = () => {}): Promise<LoadResponse> {
    const { method, target, body } = sent;
    let problem = "";
    const { status, head } = await this.#exchange({
      head: this.#head(sent),
      receive: (piece, code) => {
        if (isSuccess(code)) return receive(piece);
        problem += Buffer.from(piece).toString();
      },
      ...(body !== undefined && { body: "bytes" in body ? body.bytes : body.content() }),
    });
    if (!isSuccess(status)) throw new Error(`${method} ${target}: ${status} ${problem}`);
    return { etag: /^etag: *(.*?)\r?$/im.exec(head)?.[1] ?? "" };
  }

  /** Reads the response, and returns the number of bytes. */
  async sendAndCount(sent: LoadRequest): Promise<number> {
    let count = 0;
    await this.send(sent, (piece) => void (count += piece.length));
    return count;
  }

  async sendAndRead(sent: LoadRequest): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    await this.send(sent, (piece) => void pieces.push(piece));
    return Buffer.concat(pieces);
  }

  async #exchange(exchange: HttpExchange): Promise<HttpResponse> {
    const idle = this.#idle.pop();
    const connection = idle?.isOpen ? idle : new HttpConnection(this.#address.port);
    try {
      const response = await connection.send(exchange);
      this.#idle.push(connection);
      return response;
    } catch (error) {
      // workerd closes idle connections after some seconds, and may do so during the request.
      if (error instanceof ClosedConnectionError && connection === idle) {
        return this.#exchange(exchange);
      }
      throw error;
    }
  }

  #head(sent: LoadRequest): string {
    const { method, target } = sent;
    const lines = Object.entries(this.#sign(sent)).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${this.#address.path}/${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
  }

  #sign({ method, target, body, payload = "unsigned" }: LoadRequest): Record<string, string> {
    const { port, path, accessKeyId } = this.#address;
    const host = `127.0.0.1:${port}`;
    const date = timestamp();
    const isHashed = payload === "signed" && body !== undefined && "sha256" in body;
    const content = isHashed ? body.sha256 : "UNSIGNED-PAYLOAD";
    const [key = "", query = ""] = target.split("?");
    const names = "host;x-amz-content-sha256;x-amz-date";
    const headers = `host:${host}\nx-amz-content-sha256:${content}\nx-amz-date:${date}\n`;
    const canonical = `${method}\n${path}/${key}\n${query}\n${headers}\n${names}\n${content}`;
    const text = `AWS4-HMAC-SHA256\n${date}\n${this.#scope}\n${hash("sha256", canonical)}`;
    const signature = hmac(this.#key, text).toString("hex");
    return {
      host,
      "content-length": String(lengthOf(body)),
      "x-amz-content-sha256": content,
      "x-amz-date": date,
      authorization:
        `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${this.#scope}, ` +
        `SignedHeaders=${names}, Signature=${signature}`,
    };
  }
}

function lengthOf(body: LoadRequest["body"]): number {
  if (body === undefined) return 0;
  return "length" in body ? body.length : body.bytes.length;
}

function timestamp(): string {
  return new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
