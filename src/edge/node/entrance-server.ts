/**
 * The way in for connections that do not come to the port of a dev server: https, and the proxy of `ledge run` and
 * `ledge open`. The first octets of a connection decide. A TLS client that asks for a name of the edge gets a
 * certificate for that name; other TLS clients are passed on. Each request goes to the dev server that has run
 * longest, with the origin that the client has named (`core/entrance.ts`).
 */
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { hostName } from "../../base/host-rule.ts";
import { serveHttp2 } from "../../base/http2-requests.ts";
import { createServer, headBytesMax, limitWait } from "../../base/node-http.ts";
import {
  passRequest,
  responseTo,
  type NextServer,
  type Request,
  type Response,
} from "../../base/pass-request.ts";
import type { Authority } from "../../tls/authority.ts";
import { readClientHello } from "../../tls/client-hello.ts";
import { NameCertificates } from "../../tls/name-certificates.ts";
import { entranceHeaders } from "../core/entrance.ts";
import { readMembers } from "./members.ts";

/** From the connection to the end of the first head, as at the port of the record API. */
const headMillisecondsMax = 15_000;

export interface EntranceOptions {
  readonly stateFolder: string;
  readonly authority: Authority;
  /** Whether TLS for the name ends here. */
  readonly serves: (name: string) => Promise<boolean>;
  /** Gets TLS connections for other names, from their first octet; `null` for a client that names none. */
  readonly passOn: (client: Socket, name: string | null) => void;
  /** Gets connections that do not begin with TLS. Default: HTTP is answered. */
  readonly passPlain?: (client: Socket) => void;
  /** Hears once that a request has met no dev server. */
  readonly onMissing?: (text: string) => void;
  /** For tests. */
  readonly headMilliseconds?: number;
}

export interface Entrance {
  /** Serves a connection that another server has accepted. */
  serve(client: Socket): void;
  /** Answers a request that another server has received. */
  answer(request: Request, response: Response): void;
  close(): void;
}

export function openEntrance({
  stateFolder,
  authority,
  serves,
  passOn,
  passPlain,
  onMissing,
  headMilliseconds = headMillisecondsMax,
}: EntranceOptions): Entrance {
  const certificates = new NameCertificates(authority);
  const connections = new Set<Socket>();
  const waits = new WeakMap<object, () => void>();
  let isMissing = false;

  /** @throws Refusal */
  const nextServer = (request: Request): NextServer => {
    const { origin, path } = targetOf(request);
    const { host } = new URL(origin);
    const [member] = readMembers(stateFolder);
    if (member === undefined) {
      const text = `No dev server runs for ${host}: start "ledge dev" in ${projectOf(stateFolder)}.`;
      if (!isMissing) onMissing?.(text);
      isMissing = true;
      throw new Refusal(503, text);
    }
    const { protocol, host: memberHost, hostname, port } = new URL(member.url);
    // wrangler's proxy would replace a host that the headers have, too.
    const headers = { host: memberHost, ...entranceHeaders(member, origin) };
    return { protocol, host: hostname.replace(/^\[(.*)\]$/, "$1"), port, path, headers };
  };

  const answer = (request: Request, response: Response): void => {
    waits.get(request.socket)?.();
    try {
      passRequest(request, response, nextServer(request), (status, error) =>
        refuse(response, status, `The dev server does not answer: ${error.message}.`),
      );
    } catch (error) {
      refuse(response, error instanceof Refusal ? error.status : 400, (error as Error).message);
    }
  };

  const http = createServer({ maxHeaderSize: headBytesMax, noDelay: true }, answer);
  http.on("upgrade", (request, client: Socket, start) => {
    answer(request, responseTo(request, client, start));
  });
  http.on("connection", (client: Duplex) => {
    waits.set(client, limitWait(client, headMilliseconds));
  });
  // Node would destroy a TLS connection before its answer is sent.
  http.on("clientError", ({ code }: NodeJS.ErrnoException, client: Duplex) => {
    const isLong = code === "HPE_HEADER_OVERFLOW";
    const status = isLong ? "431 Request Header Fields Too Large" : "400 Bad Request";
    client.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    client.resume();
    limitWait(client, headMilliseconds);
  });
  const http2 = serveHttp2(answer);
  const tls = createTlsServer({
    ALPNProtocols: ["h2", "http/1.1"],
    noDelay: true,
    handshakeTimeout: headMilliseconds,
    SNICallback: (name, use) => use(null, certificates.contextFor(name.toLowerCase())),
  });
  tls.on("secureConnection", (client) => {
    client.on("error", () => {});
    if (client.alpnProtocol === "h2") http2.accept(client);
    else http.emit("connection", client);
  });

  const lead = async (client: Socket, name: string | null): Promise<void> => {
    if (name !== null && hostName(name) === name && (await serves(name))) {
      tls.emit("connection", client);
    } else passOn(client, name);
  };

  return {
    serve(client) {
      connections.add(client);
      client.once("close", () => connections.delete(client));
      // The end of the other side follows from the event "close".
      client.on("error", () => {});
      const endWait = limitWait(client, headMilliseconds);
      let start = Buffer.alloc(0);
      const read = (piece: Buffer): void => {
        start = Buffer.concat([start, piece]);
        const hello = readClientHello(start);
        if (hello === undefined) return;
        endWait();
        client.off("data", read).pause().unshift(start);
        if (hello !== null) lead(client, hello.name).catch(() => client.destroy());
        else if (passPlain !== undefined) passPlain(client);
        else {
          http.emit("connection", client);
          client.resume();
        }
      };
      client.on("data", read);
    },
    answer,
    close() {
      http2.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function refuse(response: Response, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(`${text}\n`);
}

/** The URL of a request, which a proxy gets whole and a server in parts. */
function targetOf(request: Request): { readonly origin: string; readonly path: string } {
  const { url = "/", headers, socket } = request;
  const authority = "authority" in request ? request.authority : headers.host;
  const { servername } = socket as Partial<TLSSocket>;
  const [, scheme, host = authority ?? "", path = url] =
    /^(?:(https?):\/\/([^/?#]*))(.*)$/i.exec(url) ?? [];
  const name = hostName(host);
  if (name === null) throw new Refusal(400, "The request names no host.");
  if (servername !== undefined && name !== servername) {
    const text = `This connection is for ${servername}, and the request is for ${name}.`;
    throw new Refusal(421, text);
  }
  const protocol = scheme ?? (servername === undefined ? "http" : "https");
  return {
    origin: new URL(`${protocol}://${host}`).origin,
    path: path.startsWith("/") || path === "*" ? path : `/${path}`,
  };
}

function projectOf(stateFolder: string): string {
  const inProject = join("/", ".wrangler", "state");
  return stateFolder.endsWith(inProject)
    ? stateFolder.slice(0, -inProject.length)
    : `the project whose state is in ${stateFolder}`;
}
