/** Requests to an S3 service by Node's HTTP client, over connections that stay open. */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { Agent, request as requestHttp } from "../../base/node-http.ts";
import {
  TransportError,
  type S3Answer,
  type S3Message,
  type S3Transport,
  type SizedStream,
} from "../remote/s3-transport.ts";

/**
 * A connection that no request uses is closed after this time. Servers close such a connection after 5 s
 * (Node) or more, and a request that is sent at that moment has an unknown outcome.
 */
const idleMilliseconds = 4_000;

export interface HttpTransport {
  readonly send: S3Transport;
  close(): void;
}

export function createHttpTransport(): HttpTransport {
  const https = process.getBuiltinModule("node:https");
  const options = { keepAlive: true, timeout: idleMilliseconds } as const;
  const agents = { http: new Agent(options), https: new https.Agent(options) };
  return {
    send: (message) =>
      message.origin.startsWith("https:")
        ? exchange(message, https.request, agents.https)
        : exchange(message, requestHttp, agents.http),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

type SendRequest = (url: URL, options: RequestOptions) => ClientRequest;

async function exchange(
  message: S3Message,
  sendRequest: SendRequest,
  agent: HttpAgent,
): Promise<S3Answer> {
  const { method, origin, target, headers, body, signal } = message;
  const length = body?.length ?? (method === "PUT" || method === "POST" ? 0 : null);
  const request = sendRequest(new URL(origin), {
    agent,
    method,
    // Beside the URL, because a URL would resolve `..` in the path.
    path: target,
    headers: length === null ? headers : { ...headers, "content-length": length },
    signal,
  });
  const isConnected = followConnection(request);
  const answered = new Promise<S3Answer>((resolve, reject) => {
    request.once("response", (response) => resolve(answerOf(response, method)));
    request.on("error", (error) => reject(transportError(error, isConnected())));
  });
  if (body === undefined || body instanceof Uint8Array) {
    request.end(body);
    return answered;
  }
  // Without an answer, a failure of the content is the failure that counts.
  const sent = sendContent(message, body, request);
  return Promise.race([answered, sent.then(() => answered)]).catch(async (error: unknown) => {
    await sent;
    throw error;
  });
}

/** @returns whether the request may have reached the service */
function followConnection(request: ClientRequest): () => boolean {
  let isConnected = false;
  request.once("socket", (socket: Socket & { readonly encrypted?: boolean }) => {
    if (request.reusedSocket) isConnected = true;
    else {
      const event = socket.encrypted === true ? "secureConnect" : "connect";
      socket.once(event, () => (isConnected = true));
    }
  });
  return () => isConnected;
}

const nameErrors = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);
const certificateError =
  /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|HOSTNAME_MISMATCH|ALTNAME/;

function transportError(error: NodeJS.ErrnoException, isConnected: boolean): TransportError {
  const code = error.code ?? "";
  // Several addresses were tried: the errors of each are inside, and the message is empty.
  const first =
    error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  const reason = (first?.message ?? error.message).replace(/\.$/, "") || code;
  if (isConnected) return new TransportError("lost", reason, { cause: error });
  if (nameErrors.has(code)) return new TransportError("name", reason, { cause: error });
  const failure = certificateError.test(code) ? "certificate" : "connect";
  return new TransportError(failure, reason, { cause: error });
}

/**
 * Rejects only when the content fails, and ends the request then. A service that refuses a request before
 * it has the content gets no more of it: the connection ends with the answer.
 */
async function sendContent(
  { onContent }: S3Message,
  { stream, length }: SizedStream,
  request: ClientRequest,
): Promise<void> {
  let isRefused = false;
  request.once("response", (response: IncomingMessage) => {
    isRefused = (response.statusCode as number) >= 300 && !request.writableEnded;
    if (isRefused) response.once("end", () => request.destroy());
  });
  try {
    let sent = 0;
    for await (const chunk of stream) {
      if (request.destroyed || isRefused) return;
      sent += chunk.byteLength;
      if (sent > length) break;
      if (!request.write(chunk)) await drained(request);
      onContent?.(chunk.byteLength);
    }
    if (sent !== length) {
      throw new Error(`The content has ${sent} bytes, and ${length} were announced.`);
    }
    request.end();
  } catch (error) {
    request.destroy(error as Error);
    throw error;
  }
}

/** Resolves when the request takes more, is answered, or is closed. */
function drained(request: ClientRequest): Promise<void> {
  const events = ["drain", "response", "close"];
  return new Promise((resolve) => {
    const proceed = (): void => {
      for (const event of events) request.off(event, proceed);
      resolve();
    };
    for (const event of events) request.on(event, proceed);
  });
}

function answerOf(response: IncomingMessage, method: string): S3Answer {
  const headers = new Headers(response.headers as Record<string, string>);
  const status = response.statusCode as number;
  if (method === "HEAD" || status === 204 || status === 304) {
    response.resume();
    return { status, headers, body: null };
  }
  return { status, headers, body: Readable.toWeb(response) as ReadableStream<Uint8Array> };
}
