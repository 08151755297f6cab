/**
 * Hands a request to another server and the response back, for servers of HTTP/1.1 and HTTP/2. Bodies pass in
 * pieces, as fast as their readers read. The next server is asked by HTTP/1.1.
 *
 * Each request has a connection of its own: workerd closes idle connections, and a request that meets
 * the end of its connection is lost.
 *
 * Node has answered an expectation (`Expect: 100-continue`), so the field goes no further.
 *
 * The next server may answer before it has the whole request, and close: the response counts (`answered-socket.ts`).
 */
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  ServerResponse as Http1ServerResponse,
} from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { AnsweredSocket } from "./answered-socket.ts";
import { request as sendRequest, ServerResponse } from "./node-http.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = Http1ServerResponse | Http2ServerResponse;

/** The next server, and what its request has in place of the client's. */
export interface NextServer {
  readonly protocol?: string;
  readonly host?: string;
  readonly port?: number | string;
  /** Of a Unix socket. */
  readonly socketPath?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** RFC 9110 section 7.6.1, and RFC 9113 section 8.2.2: fields of one connection. */
const connectionFields: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** @param fail answers a request whose server gives no response; the default answer has no text */
export function passRequest(
  request: Request,
  response: Response,
  next: NextServer,
  fail: (status: number, error: Error) => void = (status) => {
    response.statusCode = status;
    response.end();
  },
): void {
  let sent: ClientRequest;
  try {
    sent = send(request, next);
  } catch (error) {
    // Node refuses characters that HTTP/1.1 cannot have.
    return fail(400, error as Error);
  }
  const end = (error: Error): void => {
    if (!response.headersSent) fail(502, error);
    // A client must not take a part of a response for the whole. pipeline() destroys that of HTTP/1.1.
    else if ("stream" in response) response.stream?.destroy(error);
  };
  sent.once("error", end);
  // Also when the client takes its request back.
  response.once("close", () => sent.destroy());
  sendBody(request, sent);
  returnResponse(sent, response, end);
}

/** Sends a request without a body as a whole, and others as their bodies arrive. */
export function sendBody(request: Request, sent: ClientRequest): void {
  if (!hasBody(request)) return void sent.end();
  // The server may answer before the body begins.
  sent.flushHeaders();
  request.pipe(sent);
}

/** RFC 9112 section 6.3, and RFC 9113 section 8.1. */
function hasBody(request: Request): boolean {
  if ("authority" in request) return !request.stream.endAfterHeaders;
  const { "content-length": length = "0", "transfer-encoding": coding } = request.headers;
  return coding !== undefined || Number(length) > 0;
}

/**
 * A response on the connection of a request that wants another protocol, such as WebSocket, which Node's server
 * has given away. The connection ends with the response, or becomes the other protocol's.
 */
export function responseTo(
  request: IncomingMessage,
  client: Socket,
  start: Buffer,
): Http1ServerResponse {
  if (start.length > 0) client.unshift(start);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(client);
  client.on("error", () => {}).on("drain", () => response.emit("drain"));
  return response.once("finish", () => client.end());
}

/** Hands the response to a request back, or the connection if both sides have agreed on another protocol. */
export function returnResponse(
  sent: ClientRequest,
  response: Response,
  onError: (error: Error) => void = () => {},
): void {
  sent.once("response", (answer) => {
    const { statusCode = 500, statusMessage = "" } = answer;
    if ("stream" in response) response.writeHead(statusCode, withoutConnection(answer));
    else {
      response.sendDate = false;
      try {
        response.writeHead(statusCode, statusMessage, endToEnd(answer)).flushHeaders();
      } catch (error) {
        // HTTP has no such status.
        return onError(error as Error);
      }
    }
    pipeline(answer, response, (error) => void (error && onError(error)));
  });
  sent.once("upgrade", (answer, server: Socket, start) => {
    if ("stream" in response) return server.destroy();
    const client = response.socket as Socket;
    response.detachSocket(client);
    const { rawHeaders, statusMessage } = answer;
    const lines = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? `${name}: ${rawHeaders[index + 1]}\r\n` : [],
    );
    client.write(`HTTP/1.1 101 ${statusMessage}\r\n${lines.join("")}\r\n`);
    if (start.length > 0) server.unshift(start);
    client.once("close", () => server.destroy());
    // What the client has not received yet is sent first.
    server.on("error", () => {}).once("close", () => client.destroySoon());
    client.pipe(server).pipe(client);
  });
}

/** Names and values, as the sender has written them, without those of the connection. */
export function endToEnd(
  { rawHeaders, headers }: IncomingMessage,
  except: readonly string[] = [],
): string[] {
  const dropped = new Set([...connectionFields, ...optionsOf(headers), ...except]);
  return rawHeaders.filter((_, index) => {
    return !dropped.has((rawHeaders[index - (index % 2)] as string).toLowerCase());
  });
}

function withoutConnection({ headers }: Request | IncomingMessage): IncomingHttpHeaders {
  const dropped = new Set([...connectionFields, ...optionsOf(headers)]);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith(":") && !dropped.has(name)),
  );
}

function optionsOf({ connection = "" }: IncomingHttpHeaders): string[] {
  return connection.toLowerCase().split(/[ \t]*,[ \t]*/);
}

function send(request: Request, { protocol, headers, ...server }: NextServer): ClientRequest {
  const { method, url: path } = request;
  const fields = { ...requestFields(request), ...headers };
  const options = { method, path, ...server, headers: fields };
  if (protocol !== "https:") {
    const { socketPath, host, port } = server;
    const place = socketPath === undefined ? { host, port: Number(port) } : { path: socketPath };
    return sendRequest({
      ...options,
      createConnection: () => new AnsweredSocket().connect(place),
    });
  }
  // A dev server of this user has a certificate that no system trusts.
  const { request: sendByHttps } = process.getBuiltinModule("node:https");
  return sendByHttps({ ...options, agent: false, rejectUnauthorized: false });
}

function requestFields(request: Request): IncomingHttpHeaders {
  const passed = withoutConnection(request);
  delete passed.expect;
  const { upgrade, "transfer-encoding": coding } = request.headers;
  if ("authority" in request) {
    if (request.authority !== "") passed.host = request.authority;
    const hasLength = request.stream.endAfterHeaders || passed["content-length"] !== undefined;
    return hasLength ? passed : { ...passed, "transfer-encoding": "chunked" };
  }
  if (upgrade !== undefined) return { ...passed, connection: "Upgrade", upgrade };
  return coding === undefined ? passed : { ...passed, "transfer-encoding": coding };
}
