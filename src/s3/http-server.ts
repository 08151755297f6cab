/**
 * The HTTP server of the S3-compatible API: reads and verifies requests, and sends responses.
 *
 * Node passes on request targets as they are, and lets the server answer `Expect: 100-continue`. The
 * answer is sent when a verb begins to read the body: a request that is refused does not upload.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { describeRefusal, isServedHost } from "../base/host-rule.ts";
import { createServer, readPieces } from "../base/node-http.ts";
import type { S3Credentials } from "../http/signature.ts";
import { ConnectionLostError } from "../store/core/fault.ts";
import type { OpenContent } from "../store/node/bucket.ts";
import { answerRequest, type UnverifiedRequest } from "./answer.ts";
import { parseAuthorization, verifySignature } from "./authorization.ts";
import { RequestBody } from "./request-body.ts";
import { S3Error } from "./s3-errors.ts";
import type { S3Request, S3Response, S3Service } from "./s3-message.ts";
import { bucketOfHost, isHoisted, parseParameters, parseTarget } from "./route.ts";

/** 8 KiB of metadata in percent-encoding, and a presigned URL. */
const headerBytesMax = 64 * 1024;
/** A client that sends nothing for so long in the middle of a request is gone. */
const idleMilliseconds = 5 * 60_000;
/** From the connection or the first octet of a later request to the end of the head, as at the port of the record API. */
const headMillisecondsMax = 15_000;
/** How often Node looks, in this time, for heads that take longer. */
const looksPerHead = 3;
/** AWS SDKs keep connections for less. A connection that the server closes first fails a request. */
const keepAliveMilliseconds = 65_000;

export interface ServedStore extends S3Service {
  readonly credentials: S3Credentials;
  /** Names and addresses besides loopback, in the form of `hostName()`. */
  readonly hosts: readonly string[];
}

/** @param headersTimeout milliseconds for the head of a request. The answer to a head that takes longer is 408 */
export function createS3Server(
  served: ServedStore,
  { headersTimeout = headMillisecondsMax }: { readonly headersTimeout?: number } = {},
): Server {
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: keepAliveMilliseconds,
    headersTimeout,
    connectionsCheckingInterval: Math.ceil(headersTimeout / looksPerHead),
    // A large upload takes longer than any limit. `idleMilliseconds` ends one that stands still.
    requestTimeout: 0,
    noDelay: true,
  });
  server.timeout = idleMilliseconds;
  // Not after the end, which breaks off the requests in flight.
  const onError = (error: unknown): void => {
    if (server.listening) served.onError(error);
  };
  // S3 ignores expectations other than 100-continue, which RFC 9110 section 10.1.1 allows. Without
  // the last listener, Node answers 417.
  for (const event of ["request", "checkContinue", "checkExpectation"]) {
    server.on(event, (message: IncomingMessage, response: ServerResponse) => {
      void handleMessage(message, response, { ...served, onError });
    });
  }
  return server;
}

async function handleMessage(
  message: IncomingMessage,
  response: ServerResponse,
  served: ServedStore,
): Promise<void> {
  // The client may go away at any time.
  message.on("error", () => {});
  response.on("error", () => {});
  try {
    const answer = await answerRequest(() => readRequest(message, response, served), served);
    response.setHeader("x-amz-request-id", randomUUID());
    // The client does not send its body, which would be taken for the next request.
    if (message.headers.expect !== undefined && !message.readableDidRead) {
      response.setHeader("connection", "close");
    }
    await sendResponse(response, answer, message.method === "HEAD");
    // What the verb has not read of the body would be taken for the next request.
    if (!message.complete) message.resume();
  } catch (error) {
    if (!(error instanceof ConnectionLostError)) served.onError(error);
    response.destroy();
  }
}

/**
 * Reads everything but the body.
 *
 * @throws S3Error, URIError
 */
function readRequest(
  message: IncomingMessage,
  response: ServerResponse,
  { hosts, credentials }: ServedStore,
): UnverifiedRequest {
  const headers = readHeaders(message.rawHeaders);
  const host = headers.get("host") ?? "";
  // Only the host is checked, and not the origin: a page of another origin cannot sign a request, and
  // what needs no signature is public. The CORS rules of the bucket decide what the page may read.
  if (bucketOfHost(host, hosts) === null && !isServedHost(host, hosts)) {
    const keys = { hosts: "hosts in [s3]", origins: "cors in [s3]" };
    throw new S3Error("AccessDenied", describeRefusal({ refused: "host", value: host }, keys));
  }
  const method = message.method as string;
  const { path, query, ...target } = parseTarget(message.url as string, host, hosts);
  const { bucketName } = target;
  return { method, bucketName, headers, verify };

  function verify(): S3Request {
    const signed = { method, path, query, headers };
    // A browser sends a preflight without a signature.
    const now = Date.now();
    const authorization = method === "OPTIONS" ? null : parseAuthorization(signed, now);
    const signing =
      authorization === null ? null : verifySignature(signed, authorization, credentials, now);
    const parameters = parseParameters(query);
    if (authorization?.isPresigned === true) addHoistedHeaders(headers, parameters);
    const payload = authorization?.payload ?? null;
    const source = readBody(message, response);
    const body = new RequestBody({ headers, payload, signing, source });
    return {
      method,
      ...target,
      parameters,
      headers,
      isAnonymous: authorization === null,
      permissions: signing?.permissions ?? null,
      body,
    };
  }
}

/** By name in lower case. Node passes octets on as characters; clients mean UTF-8. */
function readHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const text = (raw[index + 1] as string).trim();
    const value = isAscii.test(text) ? text : decodeOctets(text);
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return headers;
}

// oxlint-disable-next-line no-control-regex -- control characters are intended
const isAscii = /^[\u0000-\u007f]*$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeOctets(text: string): string {
  try {
    return utf8.decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

function addHoistedHeaders(
  headers: Map<string, string>,
  parameters: ReadonlyMap<string, string>,
): void {
  for (const [parameter, value] of parameters) {
    const name = parameter.toLowerCase();
    if (isHoisted(name, value) && !headers.has(name)) headers.set(name, value);
  }
}

async function* readBody(
  message: IncomingMessage,
  response: ServerResponse,
): AsyncGenerator<Uint8Array> {
  if (/\b100-continue\b/i.test(message.headers.expect ?? "")) response.writeContinue();
  try {
    yield* readPieces(message);
  } catch {
    // The client has gone away.
    throw new S3Error("IncompleteBody");
  }
}

/** Resolves when the response has been sent, or when the client has gone away. */
async function sendResponse(
  response: ServerResponse,
  { status, headers = {}, body }: S3Response,
  isHead: boolean,
): Promise<void> {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  if (typeof body === "object" && !(body instanceof Uint8Array)) {
    return sendContent(response, body);
  }
  // Node adds the length, because it has the whole body at once. A HEAD gets the length that a body would have.
  if (isHead && status !== 304 && !response.hasHeader("content-length")) {
    response.setHeader("content-length", Buffer.byteLength(body ?? ""));
  }
  response.end(isHead ? undefined : body);
}

/** Sends no faster than the client reads. */
async function sendContent(response: ServerResponse, content: OpenContent): Promise<void> {
  try {
    for await (const chunk of content.chunks()) {
      // The memory of a chunk is used again, so the system must have the bytes first.
      const isSent = await writeChunk(response, chunk);
      if (!isSent) return;
    }
    response.end();
  } catch (error) {
    // The client sees a response that is too short, and takes nothing for the whole object.
    response.destroy();
    throw error;
  } finally {
    content.close();
  }
}

/** @returns `false` when the client has gone away */
function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve(false);
    else response.write(chunk, (error) => resolve(error == null));
  });
}
