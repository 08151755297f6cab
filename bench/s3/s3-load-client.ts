/**
 * The client of all servers: it signs requests with AWS's signature, version 4, and sends them over
 * connections that stay open. It does nothing else, so that the servers take most of the time.
 */
import { createHmac, hash } from "node:crypto";
import { Agent, request, type IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
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

/** The content of a large body is written in pieces, as a client that reads a file does. */
const pieceBytes = 64 * 1024;

export class S3LoadClient {
  readonly #address: ServerAddress;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #day = timestamp().slice(0, 8);
  readonly #scope = `${this.#day}/auto/s3/aws4_request`;
  readonly #key: Buffer;

  constructor(address: ServerAddress) {
    this.#address = address;
    const secret = Buffer.from(`AWS4${address.secretAccessKey}`);
    this.#key = [this.#day, "auto", "s3", "aws4_request"].reduce<Buffer>(hmac, secret);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Sends a request, and passes the response on. Rejects a status that is not 2xx. */
  async send(sent: LoadRequest): Promise<IncomingMessage> {
    const response = await this.#open(sent);
    const status = response.statusCode as number;
    if (status >= 200 && status < 300) return response;
    throw new Error(`${sent.method} ${sent.target}: ${status} ${await readText(response)}`);
  }

  /** Reads the response, and returns the number of bytes. */
  async sendAndCount(sent: LoadRequest): Promise<number> {
    const response = await this.send(sent);
    let count = 0;
    response.on("data", (chunk: Uint8Array) => (count += chunk.length));
    await ended(response);
    return count;
  }

  async sendAndRead(sent: LoadRequest): Promise<string> {
    return readText(await this.send(sent));
  }

  #open(sent: LoadRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { body } = sent;
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: this.#address.port,
          agent: this.#agent,
          method: sent.method,
          path: `${this.#address.path}/${sent.target}`,
          headers: this.#sign(sent),
        },
        resolve,
      );
      outgoing.on("error", (error: NodeJS.ErrnoException) => {
        // workerd closes idle connections after some seconds, and may do so during the request.
        if (outgoing.reusedSocket && error.code === "ECONNRESET") resolve(this.#open(sent));
        else reject(error);
      });
      if (body === undefined) outgoing.end();
      else if ("content" in body) pipeline(body.content(), outgoing).catch(() => {});
      else if (body.bytes.length <= pieceBytes) outgoing.end(body.bytes);
      else writePieces(outgoing, body.bytes);
    });
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

function writePieces(outgoing: ReturnType<typeof request>, bytes: Uint8Array): void {
  let offset = 0;
  const write = (): void => {
    while (offset < bytes.length) {
      const piece = bytes.subarray(offset, offset + pieceBytes);
      offset += piece.length;
      if (!outgoing.write(piece)) {
        outgoing.once("drain", write);
        return;
      }
    }
    outgoing.end();
  };
  write();
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  await ended(response);
  return Buffer.concat(chunks).toString("utf8");
}

function ended(response: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    response.once("end", resolve);
    response.once("error", reject);
  });
}
