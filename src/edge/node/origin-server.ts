/**
 * The origins of proxied records: a server on a Unix socket, which passes the requests of the edge worker on.
 *
 *     edge worker ── ledge-origin ─▶ origin server ── Host of the client's URL ─▶ the address of the record
 *
 * Bodies and WebSockets are streams in both directions. A fault before the origin's response is a page with the
 * status of the deployed platform; after it, the connection ends before the response does.
 */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { createServer, request as sendRequest } from "../../base/node-http.ts";
import { endToEnd, responseTo, returnResponse, sendBody } from "../../base/pass-request.ts";
import { activeRuns, beginRun, endRun, newRunId, removeEndedRuns } from "../../state/runs.ts";
import { removeSocket, socketPath } from "../../state/sockets.ts";
import { gatePath } from "../core/edge-state.ts";
import {
  addPassage,
  countPassages,
  originHeader,
  parseOriginOrder,
  passagesMax,
} from "../core/origin-request.ts";
import { loopPage, originFaultPage, renderPage, type EdgePage } from "../core/pages.ts";
import { connectOrigin, OriginError, type ConnectOptions } from "./origin-connection.ts";

/** As the deployed platform waits for a response. */
const answerMillisecondsDefault = 100_000;
/** Of a request or a response, as on the deployed platform. */
const headerBytesMax = 128 * 1024;
export interface OriginServerOptions extends ConnectOptions {
  /** How long an origin may be silent before its response begins. */
  readonly answerMilliseconds?: number;
  /** Settles when the edge worker may go on with the requests that it holds. */
  readonly gate?: () => Promise<void>;
}

/**
 * @param folder exists, and has sockets of origin servers only
 * @returns the address as workerd takes addresses, and a function that also ends the requests in flight
 */
export async function startOriginServer(
  folder: string,
  options: OriginServerOptions = {},
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const runId = newRunId();
  beginRun(folder, runId);
  const path = socketPath(folder, runId);
  removeLeftSockets(folder, dirname(path));
  // workerd keeps its connections for as long as it likes: a request that meets the end of one is lost.
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    keepAliveTimeout: 0,
    requestTimeout: 0,
    headersTimeout: 0,
    noDelay: true,
  });
  server.on("request", (request, response) => void passOn(request, response, options));
  const upgraded = new Set<Socket>();
  server.on("upgrade", (request, socket: Socket, head) => {
    upgraded.add(socket.once("close", () => upgraded.delete(socket)));
    void passOn(request, responseTo(request, socket, head), options);
  });
  server.listen(path);
  await once(server, "listening");
  return {
    address: `unix:${path}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await closed;
      removeSocket(path);
      endRun(folder, runId);
    },
  };
}

/** Of servers that were killed. */
function removeLeftSockets(folder: string, sockets: string): void {
  removeEndedRuns(folder);
  const active = activeRuns(folder);
  for (const name of readdirSync(sockets)) {
    if (!active.includes(name)) removeSocket(join(sockets, name));
  }
}

async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  options: OriginServerOptions,
): Promise<void> {
  // The edge worker may go away at any time.
  request.on("error", () => {});
  response.on("error", () => {});
  const order = parseOriginOrder(request.headers[originHeader]);
  if (order === null) {
    const isHeld = request.url === gatePath;
    if (isHeld) await options.gate?.();
    return void response.writeHead(isHeld ? 204 : 400).end();
  }
  const { host, record } = order;
  if (countPassages(cdnLoop(request)) >= passagesMax) {
    return sendPage(request, response, loopPage(host));
  }
  const fail = ({ fault, address }: OriginError): void => {
    // A client must not take a part of a response for the whole.
    if (response.headersSent) response.destroy();
    else sendPage(request, response, originFaultPage(fault, { host, record, address }));
  };
  try {
    const { socket, address } = await connectOrigin(order, options);
    const sent = sendRequest({
      createConnection: () => socket,
      method: request.method,
      path: request.url,
      headers: requestHeaders(request, host),
      maxHeaderSize: headerBytesMax,
    });
    const end = (error: Error): void => {
      fail(error instanceof OriginError ? error : new OriginError("reset", address, error));
    };
    sent.on("error", end);
    if (response.destroyed) sent.destroy();
    response.once("close", () => sent.destroy());
    const { answerMilliseconds = answerMillisecondsDefault } = options;
    sent.setTimeout(answerMilliseconds, () => sent.destroy(new OriginError("silent", address)));
    for (const event of ["response", "upgrade"]) sent.once(event, () => socket.setTimeout(0));
    sendBody(request, sent);
    returnResponse(sent, response, end);
  } catch (error) {
    fail(error as OriginError);
  }
}

function requestHeaders(request: IncomingMessage, host: string): string[] {
  const { headers, method = "GET" } = request;
  const own = ["host", "expect", "cdn-loop", originHeader];
  const fields = ["Host", host, ...endToEnd(request, own)];
  fields.push("CDN-Loop", addPassage(cdnLoop(request)));
  if (headers["transfer-encoding"] !== undefined) fields.push("Transfer-Encoding", "chunked");
  else if (headers["content-length"] === undefined && /^P(?:OST|UT|ATCH)$/.test(method)) {
    fields.push("Content-Length", "0");
  }
  const { upgrade } = headers;
  const last = upgrade === undefined ? ["close"] : ["Upgrade", "Upgrade", upgrade];
  return [...fields, "Connection", ...last];
}

function cdnLoop({ headers }: IncomingMessage): string {
  return String(headers["cdn-loop"] ?? "");
}

function sendPage(request: IncomingMessage, response: ServerResponse, page: EdgePage): void {
  const acceptsHtml = request.headers.accept?.includes("text/html") ?? false;
  const { body, contentType } = renderPage(page, acceptsHtml);
  const fields = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
  response.writeHead(page.status, { ...fields, "cache-control": "no-store" }).end(body);
}
