/**
 * A proxy for https (CONNECT, RFC 9110 section 9.3.6) that leads some names to a server of this
 * process, and passes connections to all others on. A client that takes its proxy from the
 * environment reaches a fixed host here without any privilege, and everything else as before.
 *
 * The URL of the proxy has a password, because every user of the machine can connect to the port.
 *
 * The proxy reads the head of a request and no octet after it.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { readHead } from "../base/node-http.ts";

export interface ConnectProxyOptions {
  /** The names that lead here, whatever the port, in lower case. */
  readonly names: readonly string[];
  /** Serves a connection to one of the names. */
  readonly serve: (client: Socket) => void;
  /** The proxy to which all other connections go; `null` for none. */
  readonly upstream: {
    readonly host: string;
    readonly port: number;
    readonly header: string;
  } | null;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

const host = "127.0.0.1";
const userName = "ledge";
/** Longer than the head of any client. */
const headBytesMax = 16_384;

/** The host and the port of a CONNECT request; `null` for any other request. */
export function connectTarget(head: string): Target | null {
  const pattern = /^CONNECT (?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):(\d{1,5}) HTTP\/1\.[01]\r\n/i;
  const [, ipv6, name, port] = pattern.exec(head) ?? [];
  const found = ipv6 ?? name;
  return found === undefined ? null : { host: found.toLowerCase(), port: Number(port) };
}

/** The value of Proxy-Authorization (RFC 7617). */
function basicCredentials(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

/**
 * The proxy that a variable such as `HTTPS_PROXY` names; `null` for none, and for proxies that are
 * not reached by HTTP.
 */
export function parseProxy(text: string | undefined): ConnectProxyOptions["upstream"] {
  if (text === undefined || text === "") return null;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url?.protocol !== "http:" || url.hostname === "") return null;
  const { username, password } = url;
  const credentials = basicCredentials(decodeURIComponent(username), decodeURIComponent(password));
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 80),
    header: username === "" ? "" : `Proxy-Authorization: ${credentials}\r\n`,
  };
}

export class ConnectProxy {
  readonly #options: ConnectProxyOptions;
  readonly #server: Server;
  readonly #password = randomBytes(16).toString("hex");
  readonly #connections = new Set<Socket>();

  private constructor(options: ConnectProxyOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  static async open(options: ConnectProxyOptions): Promise<ConnectProxy> {
    const opened = new ConnectProxy(options);
    opened.#server.listen(0, host);
    await once(opened.#server, "listening");
    return opened;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${userName}:${this.#password}@${host}:${port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #accept(client: Socket): void {
    this.#follow(client);
    let start = Buffer.alloc(0);
    const read = (piece: Buffer): void => {
      start = Buffer.concat([start, piece]);
      const head = readHead(start);
      if (head === null && start.length < headBytesMax) return;
      client.off("data", read);
      client.pause();
      const target = head === null ? null : connectTarget(head);
      if (head === null || target === null) {
        client.end(
          "HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\nContent-Length: 0\r\n\r\n",
        );
        return;
      }
      if (!this.#isAuthorized(head)) {
        client.end(
          'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="ledge"\r\n' +
            "Connection: close\r\nContent-Length: 0\r\n\r\n",
        );
        return;
      }
      const rest = start.subarray(head.length);
      if (rest.length > 0) client.unshift(rest);
      if (this.#options.names.includes(target.host)) {
        client.write(established, () => this.#options.serve(client));
      } else {
        this.#pass(client, target);
      }
    };
    client.on("data", read);
  }

  #isAuthorized(head: string): boolean {
    const [, given] = /^Proxy-Authorization:[ \t]*(.*?)[ \t]*\r$/im.exec(head) ?? [];
    return given === basicCredentials(userName, this.#password);
  }

  #pass(client: Socket, target: Target): void {
    const { upstream } = this.#options;
    const server = connect(upstream ?? target);
    this.#follow(server);
    let isConnected = false;
    server.once("connect", () => {
      isConnected = true;
      if (upstream === null) client.write(established);
      else {
        const authority = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
        const fields = `Host: ${authority}\r\n${upstream.header}`;
        server.write(`CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n`);
      }
      client.pipe(server).pipe(client);
    });
    server.once("close", () => {
      if (isConnected) client.destroySoon();
      else client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    });
    client.once("close", () => server.destroy());
  }

  #follow(connection: Socket): void {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  }
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n";
