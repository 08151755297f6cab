/** A server that answers each request with the octets of a test: services that misbehave. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawRequest {
  /** The request line and the headers. */
  readonly head: string;
  readonly body: string;
  /** From 1 on. */
  readonly number: number;
  /** Of the connection, from 1 on. */
  readonly connection: number;
}

/** What to send: octets, octets and then the end of the connection, or nothing. */
export type RawAnswer = string | { readonly text: string; readonly ends: true } | null;

export interface RawServer {
  readonly endpoint: string;
  readonly requests: readonly RawRequest[];
  /** The number of connections that are open. */
  open(): number;
}

/** The whole answer, with its length. */
export function raw(status: number, body = "", headers: Record<string, string> = {}): string {
  const all = { "content-length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n${body}`;
}

/** The document of a refusal. */
export function rawError(status: number, code: string, more = ""): string {
  const document = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>Text.</Message>${more}</Error>`;
  return raw(status, document, { "content-type": "application/xml" });
}

/** @param hurry answers as soon as the head has arrived */
export async function startRawServer(
  answer: (request: RawRequest) => RawAnswer,
  { hurry = false } = {},
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let received = "";
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = received.slice(0, end);
      const length = hurry ? 0 : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const body = received.slice(end + 4, end + 4 + length);
      if (body.length < length) return;
      received = hurry ? "" : received.slice(end + 4 + length);
      const request = { head, body, number: requests.length + 1, connection };
      requests.push(request);
      const sent = answer(request);
      if (sent === null) return;
      if (typeof sent === "string") socket.write(sent, "latin1");
      else socket.end(sent.text, "latin1");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, requests, open: () => sockets.size };
}
