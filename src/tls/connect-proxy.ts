/**
 * A proxy for https (CONNECT, RFC 9110 section 9.3.6) that leads some names to a server of this
 * process, and passes connections to all others on. A client that takes its proxy from the
 * environment reaches a fixed host here without any privilege, and everything else as before.
 *
 * The URL of the proxy has a password, because every user of the machine can connect to the port. The
 * proxy closes a connection whose request or whose answer does not arrive in time; an established
 * connection may be silent for as long as its ends like.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { createServer, isSameText } from "../base/node-http.ts";

interface ConnectProxyOptions {
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
  /** How long the proxy waits for a request, and for the other side of a connection. */
  readonly waitMilliseconds?: number;
}

/** As the port of the record API has it for requests; a connection takes two seconds, or fails. */
const waitMillisecondsDefault = 15_000;

const userName = "ledge";
const established = "HTTP/1.1 200 Connection established\r\n\r\n";

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

/** @returns the URL of the proxy, and a function that closes it with its connections */
export async function openConnectProxy({
  names,
  serve,
  upstream,
  waitMilliseconds = waitMillisecondsDefault,
}: ConnectProxyOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const password = randomBytes(16).toString("hex");
  const credentials = basicCredentials(userName, password);
  const connections = new Set<Socket>();
  const follow = (connection: Socket): void => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  };

  /** Destroys a connection unless the returned function is called in time. */
  const limit = (connection: Socket): (() => void) => {
    let isWaiting = true;
    const expire = (): void => void (isWaiting && connection.destroy());
    // What has arrived while the process was busy is read before the connection is destroyed.
    const timer = setTimeout(() => setImmediate(expire), waitMilliseconds);
    const end = (): void => {
      isWaiting = false;
      clearTimeout(timer);
    };
    connection.once("close", end);
    return end;
  };

  const pass = (client: Socket, authority: string): void => {
    const { hostname, port } = new URL(`http://${authority}`);
    const target = { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) };
    const server = connect(upstream ?? target);
    follow(server);
    let isAnswered = false;
    const endWait = limit(server);
    server.once(upstream === null ? "connect" : "data", () => {
      isAnswered = true;
      endWait();
    });
    server.once("connect", () => {
      if (upstream === null) client.write(established);
      else {
        const fields = `Host: ${authority}\r\n${upstream.header}`;
        server.write(`CONNECT ${authority} HTTP/1.1\r\n${fields}\r\n`);
      }
      client.pipe(server).pipe(client);
    });
    server.once("close", () => {
      if (isAnswered) client.destroySoon();
      else client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    });
    client.once("close", () => server.destroy());
  };

  const server = createServer({ requireHostHeader: false }, (_request, response) => {
    response.writeHead(405, { allow: "CONNECT", connection: "close" }).end();
  });
  const requestLimits = new WeakMap<Socket, () => void>();
  server.on("connection", (client) => {
    follow(client);
    requestLimits.set(client, limit(client));
  });
  server.on("connect", ({ url: authority = "", headers }, client: Socket, start) => {
    requestLimits.get(client)?.();
    if (!/^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+):\d{1,5}$/i.test(authority)) {
      client.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    } else if (!isSameText(credentials, headers["proxy-authorization"] ?? "")) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="ledge"\r\n' +
          "Connection: close\r\nContent-Length: 0\r\n\r\n",
      );
    } else {
      if (start.length > 0) client.unshift(start);
      const name = authority.toLowerCase().replace(/:\d+$/, "");
      if (names.includes(name)) client.write(established, () => serve(client));
      else pass(client, authority.toLowerCase());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${userName}:${password}@127.0.0.1:${port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}
