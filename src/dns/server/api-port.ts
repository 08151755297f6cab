/**
 * The port of the record API, in front of the companion worker's socket. workerd holds every
 * connection open for 5 s after a response, and clients that read to the end of the connection
 * (`Connection: close`, HTTP/1.0) would wait that long. Here such a connection ends with its
 * response; all other octets pass unchanged in both directions.
 *
 * The first request decides: clients that close a connection after each request send only one.
 *
 * With a certificate the port speaks TLS, and the octets inside pass as they do without TLS. Node's
 * own server for https would parse the requests, and it refuses requests of clients that workerd
 * accepts.
 *
 * A client may choose HTTP/2 (`base/http2-requests.ts`): in the handshake of TLS, or without TLS by the
 * first octets that it sends.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { AnsweredSocket } from "../../base/answered-socket.ts";
import { serveHttp2, type Http2Requests } from "../../base/http2-requests.ts";
import {
  headBytesMax,
  isLastRequest,
  limitWait,
  readHead,
  ResponseEnd,
} from "../../base/node-http.ts";
import { passRequest } from "../../base/pass-request.ts";
import { isPortFree } from "../../base/ports.ts";
import { edgeHost } from "../../edge/core/destination.ts";
import { isEdgeName } from "../../edge/node/edge-names.ts";
import { openEntrance } from "../../edge/node/entrance-server.ts";
import { stateFolderOf } from "../../state/folder.ts";
import type { ServerIdentity } from "../../tls/authority.ts";
import { httpsSocketPath } from "./companion.ts";
import type { ServerCertificate } from "./server-certificate.ts";

/** RFC 9113 section 3.4: what a client that knows that the server speaks HTTP/2 sends first. */
const http2Head = "PRI * HTTP/2.0\r\n\r\n";
/** From the connection to the end of the first head, as in workerd. */
const headMillisecondsMax = 15_000;

interface TunnelOptions {
  readonly target: string;
  readonly identity?: ServerIdentity;
  /** For tests. */
  readonly headMilliseconds?: number;
}

interface ApiPortOptions extends TunnelOptions {
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
}

export class ApiPort {
  readonly #target: string;
  readonly #headMilliseconds: number;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #http2: Http2Requests | null = null;

  private constructor({ target, identity, headMilliseconds = headMillisecondsMax }: TunnelOptions) {
    this.#target = target;
    this.#headMilliseconds = headMilliseconds;
    const settings = { allowHalfOpen: true, noDelay: true };
    if (identity === undefined) {
      this.#server = createServer(settings, (client) => {
        this.#follow(client);
        this.#accept(client);
      });
      return;
    }
    const protocols = { ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: headMilliseconds };
    this.#server = createTlsServer({ ...settings, ...protocols, ...identity }, (client) => {
      this.#follow(client);
      if (client.alpnProtocol === "h2") this.#acceptHttp2(client);
      else this.#accept(client);
    });
    this.#server.on("connection", (client: Socket) => this.#follow(client));
  }

  static async open(options: ApiPortOptions): Promise<ApiPort> {
    const opened = new ApiPort(options);
    opened.#server.listen(options.port, options.host);
    await once(opened.#server, "listening");
    return opened;
  }

  /** The same without a port: `pass()` hands connections over. */
  static unopened(options: TunnelOptions): ApiPort {
    return new ApiPort(options);
  }

  /** Serves a connection that another server has accepted. */
  pass(client: Socket): void {
    this.#server.emit("connection", client);
  }

  renew(identity: ServerIdentity): void {
    (this.#server as TlsServer).setSecureContext(identity);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, "close") : null;
    this.#server.close();
    this.#http2?.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #acceptHttp2(client: Socket): void {
    const next = { socketPath: this.#target };
    this.#http2 ??= serveHttp2((request, response) => passRequest(request, response, next));
    this.#http2.accept(client);
  }

  #accept(client: Socket): void {
    let start = Buffer.alloc(0);
    let isWaiting = true;
    const endWait = limitWait(client, this.#headMilliseconds);
    const read = (piece: Buffer): void => {
      start = Buffer.concat([start, piece]);
      const head = readHead(start);
      if (head === null && start.length < headBytesMax) return;
      isWaiting = false;
      endWait();
      client.off("data", read);
      client.pause();
      if (head === http2Head) {
        client.unshift(start);
        this.#acceptHttp2(client);
        return;
      }
      this.#tunnel(client, start, head !== null && isLastRequest(head) ? head : null);
    };
    client.on("data", read);
    // A client that sends no complete request gets no response.
    client.once("end", () => void (isWaiting && client.destroy()));
  }

  /** @param lastRequest the head of the request whose response ends the connection */
  #tunnel(client: Socket, start: Buffer, lastRequest: string | null): void {
    const server = new AnsweredSocket({ allowHalfOpen: true }).connect({ path: this.#target });
    this.#follow(server);
    client.once("close", () => server.destroy());
    // What the client has not received yet is sent first.
    server.once("close", () => client.destroySoon());
    server.write(start);
    client.pipe(server);
    if (lastRequest === null) {
      server.pipe(client);
      return;
    }
    const end = new ResponseEnd(lastRequest);
    server.on("data", (piece: Buffer) => {
      const length = end.take(piece);
      if (length === null) {
        if (!client.write(piece)) server.pause();
        return;
      }
      server.removeAllListeners("data");
      client.end(piece.subarray(0, length));
    });
    server.on("end", () => client.end());
    client.on("drain", () => server.resume());
  }

  #follow(connection: Socket): void {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  }
}

interface HttpsPortOptions {
  readonly folder: string;
  readonly certificate: ServerCertificate;
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  readonly log: (text: string) => void;
}

interface HttpsPort {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * The port of https: the record API for loopback and its names, and the edge for names below localhost, and for
 * others that the authority of the folder covers.
 */
export async function openHttpsPort({
  folder,
  certificate,
  host,
  port: wanted,
  log,
}: HttpsPortOptions): Promise<HttpsPort> {
  const problem = await portProblem(wanted, host);
  if (problem !== null) log(`Port ${wanted} ${problem}: https of the DNS API uses another port.`);
  const api = ApiPort.unopened({
    target: httpsSocketPath(folder),
    identity: certificate.identity,
  });
  certificate.onRenewal((identity) => api.renew(identity));
  const { authority, names } = certificate;
  const state = stateFolderOf(folder);
  const passOn = (client: Socket): void => api.pass(client);
  const entrance = openEntrance({
    stateFolder: state,
    authority,
    async serves(name) {
      if (names.includes(name)) return false;
      if (name.endsWith(".localhost")) return edgeHost(name, []) !== null;
      return authority.covers(name) && isEdgeName(state, name);
    },
    passOn,
    passPlain: passOn,
  });
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    entrance.serve(client);
  });
  server.listen(problem === null ? wanted : 0, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      entrance.close();
      await api.close();
      await closed;
    },
  };
}

async function portProblem(port: number, host: string): Promise<string | null> {
  try {
    return (await isPortFree(port, host)) ? null : "is taken";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" ? "needs special rights" : `cannot be opened (${code})`;
  }
}
