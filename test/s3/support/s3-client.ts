/**
 * A client that sends what the test writes: raw targets, any header, any body, and signatures of
 * each form. The clients of others (`aws-sdk.test.ts`, `npm run test:long -- peers`) send only what is valid.
 */
import { createHash, createHmac, hash } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { RunningS3 } from "../../../dist/index.js";

export interface Sent {
  readonly method?: string;
  /** Without the host, encoded: `/photos/a?partNumber=1` */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** `x-amz-content-sha256`; default: the hash of the body. */
  readonly payload?: string;
  readonly isAnonymous?: boolean;
  /** Makes the body of a streaming form from the signature of the request. */
  readonly chunks?: (signing: ChunkSigning) => string | Uint8Array;
  /** Receives the informational responses. */
  readonly onContinue?: () => void;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly text: string;
  /** The `Code` of an error document. */
  readonly code: string | undefined;
}

export interface ChunkSigning {
  readonly key: Buffer;
  readonly dateText: string;
  readonly scope: string;
  readonly signature: string;
}

const sha256 = (data: string | Uint8Array): string => hash("sha256", data, "hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

export class S3TestClient {
  readonly #server: Pick<RunningS3, "port" | "credentials">;

  constructor(server: Pick<RunningS3, "port" | "credentials">) {
    this.#server = server;
  }

  get port(): number {
    return this.#server.port;
  }

  async send(sent: Sent): Promise<Received> {
    const { headers, body } = this.sign(sent);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest(
        {
          host: "127.0.0.1",
          port: this.#server.port,
          method: sent.method ?? "GET",
          path: sent.target,
          headers: { ...headers, "content-length": String(body.length) },
        },
        resolve,
      );
      request.on("error", reject);
      request.on("continue", () => {
        sent.onContinue?.();
        request.end(body);
      });
      if (headers["expect"] === undefined) request.end(body);
      else request.flushHeaders();
    });
    const bytes = await buffer(response);
    const text = bytes.toString("utf8");
    return {
      status: response.statusCode as number,
      headers: response.headers,
      body: bytes,
      text,
      code: /<Code>(.*?)<\/Code>/.exec(text)?.[1],
    };
  }

  /** A connection with the head of a request, more headers, and what the test writes after them. */
  open(sent: Sent, more: Record<string, string>, content = ""): Socket {
    const headers = Object.entries({ ...this.sign(sent).headers, ...more });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = connect(this.#server.port, "127.0.0.1");
    socket.write(`${sent.method ?? "GET"} ${sent.target} HTTP/1.1\r\n${lines}\r\n${content}`);
    return socket;
  }

  /** The headers and the body of a request. */
  sign(sent: Sent): { headers: Record<string, string>; body: Buffer } {
    const { method = "GET", target, body = "", payload = sha256(body) } = sent;
    const host = `localhost:${this.#server.port}`;
    if (sent.isAnonymous) return { headers: { host, ...sent.headers }, body: Buffer.from(body) };
    const { accessKeyId, secretAccessKey } = this.#server.credentials;
    const dateText = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
    const day = dateText.slice(0, 8);
    const scope = `${day}/auto/s3/aws4_request`;
    const headers: Record<string, string> = {
      host,
      "x-amz-content-sha256": payload,
      "x-amz-date": dateText,
      ...sent.headers,
    };
    const names = Object.keys(headers).toSorted();
    const [path = "", query = ""] = target.split("?");
    const pairs = query.split("&").filter(Boolean);
    const canonical = [
      method,
      path,
      pairs
        .map((pair) => (pair.includes("=") ? pair : `${pair}=`))
        .toSorted()
        .join("&"),
      ...names.map((name) => `${name}:${headers[name]}`),
      "",
      names.join(";"),
      payload,
    ].join("\n");
    const key = [day, "auto", "s3", "aws4_request"].reduce<Buffer>(
      hmac,
      Buffer.from(`AWS4${secretAccessKey}`),
    );
    const text = ["AWS4-HMAC-SHA256", dateText, scope, sha256(canonical)].join("\n");
    const signature = hmac(key, text).toString("hex");
    headers["authorization"] =
      `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, ` +
      `SignedHeaders=${names.join(";")}, Signature=${signature}`;
    const content = sent.chunks?.({ key, dateText, scope, signature }) ?? body;
    return { headers, body: Buffer.from(content as Uint8Array) };
  }
}

/** What arrives until an error document or the end of the connection. */
export async function answerOf(socket: Socket): Promise<string> {
  let text = "";
  try {
    for await (const piece of socket) {
      text += String(piece);
      if (text.includes("</Error>")) break;
    }
  } catch {
    // The server may close the connection before it has read the content.
  }
  return text;
}

/** A body in signed chunks, with a signed trailer where there is one. */
export function signedChunks(
  { key, dateText, scope, signature }: ChunkSigning,
  chunks: readonly string[],
  trailer?: readonly [name: string, value: string],
): string {
  let last = signature;
  const next = (kind: string, ...hashes: string[]): string => {
    last = hmac(key, [kind, dateText, scope, last, ...hashes].join("\n")).toString("hex");
    return last;
  };
  const parts = [...chunks, ""].map((chunk) => {
    const signed = next("AWS4-HMAC-SHA256-PAYLOAD", sha256(""), sha256(chunk));
    const head = `${Buffer.byteLength(chunk).toString(16)};chunk-signature=${signed}\r\n`;
    return chunk === "" ? head : `${head}${chunk}\r\n`;
  });
  if (trailer !== undefined) {
    const [name, value] = trailer;
    const signed = next("AWS4-HMAC-SHA256-TRAILER", sha256(`${name}:${value}\n`));
    parts.push(`${name}:${value}\r\n`, `x-amz-trailer-signature:${signed}\r\n`);
  }
  return `${parts.join("")}\r\n`;
}

export function base64Md5(data: string | Uint8Array): string {
  return createHash("md5").update(data).digest("base64");
}
