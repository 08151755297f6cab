/**
 * HTTP/2 on the ports of the record API, which dig, kdig and browsers want for DNS over HTTPS. The
 * companion worker's socket speaks HTTP/1.1, so each stream becomes a request to the socket. Bodies
 * pass in pieces, as fast as their readers read.
 *
 * Each request has a connection of its own: workerd closes idle connections, and a request that meets
 * the end of its connection is lost.
 */
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { request as sendRequest } from "../../base/node-http.ts";

/** RFC 9113 section 6.5.2 recommends no fewer. */
const concurrentStreamsMax = 100;
/** Longer than an answer takes that a fault of a test delays. */
const silentMillisecondsMax = 120_000;
/** RFC 9113 section 8.2.2: HTTP/2 has no such fields. */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

export interface Http2Requests {
  /** Serves a connection whose client has chosen HTTP/2. */
  accept(connection: Socket): void;
  /** Tells the clients that their connections end (GOAWAY), and ends them. */
  close(): void;
}

/** @param target the path of the companion worker's socket */
export function serveHttp2(target: string): Http2Requests {
  // To load the module takes 20 ms, so it is loaded for the first client that needs it.
  const { createServer } = process.getBuiltinModule("node:http2");
  const sessions = new Set<ServerHttp2Session>();
  const settings = { maxConcurrentStreams: concurrentStreamsMax };
  const server = createServer({ settings }, (request, response) => {
    passOn(request, response, target);
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(silentMillisecondsMax, () => session.destroy());
  });
  // A client has broken the protocol, and its session has ended.
  server.on("sessionError", () => {});
  return {
    accept: (connection) => void server.emit("connection", connection),
    close() {
      for (const session of sessions) session.destroy();
    },
  };
}

function passOn(request: Http2ServerRequest, response: Http2ServerResponse, target: string): void {
  const { method, url: path } = request;
  const fail = (status: number): void => {
    // A client must not take a part of a response for the whole.
    if (response.headersSent) response.stream?.destroy(new Error("The response has no end."));
    else response.writeHead(status).end();
  };
  let sent: ReturnType<typeof sendRequest>;
  try {
    const headers = requestHeaders(request);
    sent = sendRequest({ socketPath: target, agent: false, method, path, headers });
  } catch {
    // Node refuses characters that HTTP/1.1 cannot have.
    return fail(400);
  }
  sent.once("response", (answer) => {
    response.writeHead(answer.statusCode ?? 500, responseHeaders(answer.headers));
    pipeline(answer, response, (error) => void (error && fail(502)));
  });
  sent.once("error", () => fail(502));
  // Also when the client takes its request back.
  response.once("close", () => sent.destroy());
  request.pipe(sent);
}

function requestHeaders({ headers, authority, stream }: Http2ServerRequest): IncomingHttpHeaders {
  const fields = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  const passed: IncomingHttpHeaders = Object.fromEntries(fields);
  // Node has answered the expectation.
  delete passed.expect;
  if (authority !== "") passed.host = authority;
  const hasLength = stream.endAfterHeaders || passed["content-length"] !== undefined;
  return hasLength ? passed : { ...passed, "transfer-encoding": "chunked" };
}

function responseHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const fields = Object.entries(headers).filter(([name]) => !connectionFields.has(name));
  return Object.fromEntries(fields);
}
