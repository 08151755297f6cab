/** HTTP requests with any headers: clients of Node set `Host`, and refuse others that are forbidden. */
import { connect } from "node:net";

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawReply {
  /** `closed` when the server closed the connection without a response. */
  readonly status: number | "closed";
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A server that says nothing for so long waits for more; the end of the input makes it answer. */
const silenceMilliseconds = 2000;

/** @param to a port of 127.0.0.1, or the path of a Unix socket */
export function sendRaw(to: number | string, request: RawRequest = {}): Promise<RawReply> {
  const { method = "GET", path = "/", headers = {}, body = "" } = request;
  const all = {
    // A server that passes requests on finds no other server there.
    host: "localhost:1",
    ...(body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const socket =
      typeof to === "number" ? connect({ port: to, host: "127.0.0.1" }) : connect({ path: to });
    let received = "";
    const finish = (): void => {
      socket.destroy();
      resolve(parseReply(received));
    };
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      received += text;
      if (isComplete(received, method)) finish();
    });
    socket.on("close", finish);
    socket.on("error", finish);
    socket.setTimeout(silenceMilliseconds, () => {
      socket.end();
      socket.setTimeout(5 * silenceMilliseconds, finish);
    });
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  });
}

function isComplete(received: string, method: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const { status, headers } = parseReply(received);
  const length = headers["content-length"];
  if (status === 101 || status === 204 || method === "HEAD") return true;
  if (length !== undefined) return received.length >= end + 4 + Number(length);
  return received.endsWith("0\r\n\r\n");
}

function parseReply(received: string): RawReply {
  const [head = "", ...rest] = received.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const status = /^HTTP\/1\.1 (\d{3})/.exec(first)?.[1];
  if (status === undefined) return { status: "closed", headers: {}, text: received };
  const headers = lines.map((line) => {
    const [name = "", ...value] = line.split(":");
    return [name.toLowerCase(), value.join(":").trim()] as const;
  });
  return {
    status: Number(status),
    headers: Object.fromEntries(headers),
    text: rest.join("\r\n\r\n"),
  };
}

export const upgradeHeaders = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
