/**
 * A proxy for http and https (RFC 9110 sections 7.6 and 9.3.6) that leads some names to a server of this
 * process, and everything else on. A client that takes its proxy from the environment reaches fixed hosts and
 * names of the edge here without any privilege, and all others as before.
 *
 * The URL of the proxy has a password, because every user of the machine can connect to the port. Browsers take
 * no password from a command line: a proxy without one tells no client the password of the next proxy. The
 * proxy closes a connection whose request or whose answer does not arrive in time; an established
 * connection may be silent for as long as its ends like.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { hostName } from "../base/host-rule.ts";
import { createServer, headBytesMax, isSameText, limitWait } from "../base/node-http.ts";
import { passRequest, responseTo, type NextServer } from "../base/pass-request.ts";

/** What answers for the names that lead here. */
interface NamesServer {
  /** Serves a connection to a name, whatever the port. */
  serve(client: Socket): void;
  /** Answers a request whose URL has the name. */
  answer(request: IncomingMessage, response: ServerResponse): void;
}

/** The proxy to which other connections go. */
export interface NextProxy {
  readonly host: string;
  readonly port: number;
  readonly credentials: string | null;
}

interface ConnectProxyOptions {
  /** Whether a name or an address, in lower case, leads here. */
  readonly leadsHere: (name: string) => Promise<boolean>;
  readonly server: NamesServer;
  /** By the scheme of URLs; `null` for none. */
  readonly next: Readonly<Record<"http" | "https", NextProxy | null>>;
  /** For browsers: without a password, and without those of the next proxies. */
  readonly isOpen?: boolean;
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
export function parseProxy(text: string | undefined): NextProxy | null {
  if (text === undefined || text === "") return null;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url?.protocol !== "http:" || url.hostname === "") return null;
  const { username, password } = url;
  const credentials = basicCredentials(decodeURIComponent(username), decodeURIComponent(password));
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 80),
    credentials: username === "" ? null : credentials,
  };
}

/** @returns the URL of the proxy, and a function that closes it with its connections */
export async function openConnectProxy({
  leadsHere,
  server: names,
  next,
  isOpen = false,
  waitMilliseconds = waitMillisecondsDefault,
}: ConnectProxyOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const password = randomBytes(16).toString("hex");
  const ownCredentials = basicCredentials(userName, password);
  const connections = new Set<Socket>();
  const follow = (connection: Socket): void => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  };
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    isOpen || isSameText(ownCredentials, headers["proxy-authorization"] ?? "");
  /** For the next proxy. */
  const credentialsFor = (
    { headers }: IncomingMessage,
    { credentials }: NextProxy,
  ): Record<string, string> => {
    const value = isOpen ? headers["proxy-authorization"] : credentials;
    return value == null ? {} : { "Proxy-Authorization": value };
  };

  const pass = (request: IncomingMessage, client: Socket, authority: string): void => {
    const upstream = next.https;
    const server = connect(upstream ?? addressOf(authority));
    follow(server);
    let isAnswered = false;
    const endWait = limitWait(server, waitMilliseconds);
    server.once(upstream === null ? "connect" : "data", () => {
      isAnswered = true;
      endWait();
    });
    server.once("connect", () => {
      if (upstream === null) client.write(established);
      else {
        const fields = { Host: authority, ...credentialsFor(request, upstream) };
        const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
        server.write(`CONNECT ${authority} HTTP/1.1\r\n${lines.join("")}\r\n`);
      }
      client.pipe(server).pipe(client);
    });
    server.once("close", () => {
      if (isAnswered) client.destroySoon();
      else client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    });
    client.once("close", () => server.destroy());
  };

  const nextServer = (request: IncomingMessage, authority: string): NextServer => {
    const { url = "" } = request;
    const host = authority;
    if (next.http !== null) {
      const { credentials: _, ...place } = next.http;
      return { ...place, headers: { host, ...credentialsFor(request, next.http) } };
    }
    const path = url.slice(url.indexOf(authority) + authority.length);
    return {
      ...addressOf(authority),
      path: path.startsWith("/") ? path : `/${path}`,
      headers: { host },
    };
  };

  /** Answers a request for a URL of http. */
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requestLimits.get(request.socket)?.();
    const refuse = (status: number, headers: Record<string, string>): void =>
      void response.writeHead(status, { ...headers, connection: "close" }).end();
    const [, authority = ""] = /^http:\/\/([^/?#@]+)/i.exec(request.url ?? "") ?? [];
    const name = hostName(authority);
    if (name === null) refuse(405, { allow: "CONNECT" });
    else if (!isAllowed(request)) refuse(407, { "proxy-authenticate": challenge });
    else if (await leadsHere(name)) names.answer(request, response);
    else passRequest(request, response, nextServer(request, authority));
  };

  const server = createServer(
    { requireHostHeader: false, maxHeaderSize: headBytesMax },
    (request, response) => void answer(request, response),
  );
  server.on("upgrade", (request, client: Socket, start) => {
    void answer(request, responseTo(request, client, start));
  });
  const requestLimits = new WeakMap<object, () => void>();
  server.on("connection", (client) => {
    follow(client);
    requestLimits.set(client, limitWait(client, waitMilliseconds));
  });
  server.on("connect", (request: IncomingMessage, client: Socket, start: Buffer) => {
    const { url: authority = "" } = request;
    requestLimits.get(client)?.();
    if (!/^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+):\d{1,5}$/i.test(authority)) {
      client.end("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    } else if (!isAllowed(request)) {
      client.end(
        `HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: ${challenge}\r\n` +
          "Connection: close\r\nContent-Length: 0\r\n\r\n",
      );
    } else {
      if (start.length > 0) client.unshift(start);
      void leadsHere(hostName(authority) ?? "").then((isHere) => {
        if (isHere) client.write(established, () => names.serve(client));
        else pass(request, client, authority.toLowerCase());
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${isOpen ? "" : `${userName}:${password}@`}127.0.0.1:${port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

const challenge = 'Basic realm="ledge"';

/** `example.com:8080`, `[::1]` */
function addressOf(authority: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`http://${authority}`);
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) };
}
