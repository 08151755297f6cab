/**
 * HTTP/2 in front of servers that speak HTTP/1.1: dig, kdig and browsers want it for DNS over HTTPS, and browsers
 * for pages. Each stream becomes a request to such a server.
 */
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { Duplex } from "node:stream";

/** RFC 9113 section 6.5.2 recommends no fewer. */
const concurrentStreamsMax = 100;
/** Longer than an answer takes that a fault of a test delays. */
const silentMillisecondsMax = 120_000;

export interface Http2Requests {
  /** Serves a connection whose client has chosen HTTP/2. */
  accept(connection: Duplex): void;
  /** Tells the clients that their connections end (GOAWAY), and ends them. */
  close(): void;
}

export function serveHttp2(
  handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Http2Requests {
  // To load the module takes 20 ms, so it is loaded for the first client that needs it.
  const { createServer } = process.getBuiltinModule("node:http2");
  const sessions = new Set<ServerHttp2Session>();
  const settings = { maxConcurrentStreams: concurrentStreamsMax };
  const server = createServer({ settings }, handle);
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
