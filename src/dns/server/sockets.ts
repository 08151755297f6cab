/**
 * The sockets of the listener thread: UDP and TCP at one port of every host, and DNS over TLS at
 * another.
 *
 * UDP: most of the cost of a datagram is Node's: the buffer and the address objects, and the system
 * call that sends the response. Two costs are avoided here: `lookup` returns at once (the default
 * waits for the next tick even for an address), and `send()` has no callback.
 *
 * TCP (RFC 7766): a client sends any number of queries without waiting, and responses go out as they
 * are ready. The memory for a client is bounded: while the client does not read its responses, or
 * many of its queries wait for a resolver, the connection reads nothing. A client that completes no
 * query for a while, or reads nothing, is disconnected.
 *
 * DNS over TLS (RFC 7858) is the same inside of TLS. A handshake counts as silence.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import type { ServerIdentity } from "../../tls/authority.ts";
import type { QuerySource } from "../answer/query.ts";
import type { ServerAddress } from "../config/dns-table.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { frame, Frames } from "../wire/message.ts";
import type { HandleQuery } from "./query-handler.ts";

export interface BindOptions {
  readonly hosts: readonly string[];
  /** 0: any port that is free on every host, for UDP and TCP. */
  readonly port: number;
  /** Leave out hosts that this machine does not have. */
  readonly hostsOptional: boolean;
  /** With an identity, the port is of DNS over TLS alone. */
  readonly identity?: ServerIdentity;
}

export interface OpenPorts {
  readonly hosts: readonly string[];
  readonly port: number;
}

interface Opened {
  close(): unknown;
  renew?(identity: ServerIdentity): void;
}

export interface OpenSockets extends OpenPorts {
  close(): Promise<void>;
  /** Gives new connections of TLS another certificate. */
  renew(identity: ServerIdentity): void;
}

/** The system's free port for TCP may be taken for UDP. */
const attemptsMax = 20;
/** The codes of a machine without IPv6, or without this address. */
const absentHostCodes = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Binds all sockets, or none: a failure closes the sockets that were bound before it. */
export async function bindSockets(options: BindOptions, handle: HandleQuery): Promise<OpenSockets> {
  for (let attempt = 1; ; attempt++) {
    const opened: Opened[] = [];
    const close = async (): Promise<void> => {
      await Promise.all(opened.map((socket) => socket.close()));
    };
    const renew = (identity: ServerIdentity): void => {
      for (const socket of opened) socket.renew?.(identity);
    };
    try {
      return { ...(await bindHosts(options, handle, opened)), close, renew };
    } catch (error) {
      await close();
      const canRetry = options.port === 0 && codeOf(error) === "EADDRINUSE";
      if (!canRetry || attempt === attemptsMax) throw error;
    }
  }
}

async function bindHosts(
  options: BindOptions,
  handle: HandleQuery,
  opened: Opened[],
): Promise<OpenPorts> {
  const hosts: string[] = [];
  const { identity } = options;
  let { port } = options;
  let absent: unknown;
  for (const host of options.hosts) {
    try {
      const tcp = await openTcp({ host, port, handle, identity });
      opened.push(tcp);
      port = tcp.port;
      if (identity === undefined) opened.push(await openUdp({ host, port }, handle));
      hosts.push(host);
    } catch (error) {
      if (!options.hostsOptional || !absentHostCodes.has(codeOf(error))) throw error;
      absent = error;
    }
  }
  if (hosts.length === 0) throw absent;
  return { hosts, port };
}

type SocketTransport = Exclude<QuerySource["transport"], "https">;

class SocketSource implements QuerySource {
  readonly transport: SocketTransport;
  readonly server: string;
  readonly #remote: Pick<RemoteInfo, "address" | "port">;
  /** Until it ends: the log keeps sources for longer. */
  connection: Socket | null = null;

  /**
   * @param server the address that the socket is bound to
   * @param remote as Node writes it; an IPv6 address can have a zone (fe80::1%eth0)
   */
  constructor(
    transport: SocketTransport,
    server: string,
    remote: Pick<RemoteInfo, "address" | "port">,
  ) {
    this.transport = transport;
    this.server = server;
    this.#remote = remote;
  }

  /** Computed on demand, because only transfers need it. */
  get address(): Uint8Array {
    const address = this.#remote.address.replace(/%.*$/, "");
    return parseIpv4(address) ?? parseIpv6(address) ?? unspecified;
  }

  get clientAddress(): string {
    const { address, port } = this.#remote;
    return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  }

  reset(): void {
    this.connection?.resetAndDestroy();
  }

  sendFromOtherPort(response: Uint8Array): void {
    const { address, port } = this.#remote;
    const socket = createSocket(this.server.includes(":") ? "udp6" : "udp4");
    // A response that cannot be sent is lost, as any datagram can be.
    socket.once("error", () => socket.close());
    socket.bind(0, this.server, () => socket.send(response, port, address, () => socket.close()));
  }
}

const unspecified = new Uint8Array(4);

/** For bursts. The kernel may grant less. */
const receiveBufferBytes = 4 * 1024 * 1024;
/** Responses that wait for the kernel. */
const unsentMax = 1000;

async function openUdp({ host, port }: ServerAddress, handle: HandleQuery): Promise<UdpSocket> {
  const ipv6 = host.includes(":");
  const socket = createSocket({
    type: ipv6 ? "udp6" : "udp4",
    ipv6Only: ipv6,
    lookup: (address, _options, done) => done(null, address, ipv6 ? 6 : 4),
  });
  let closed = false;
  socket.once("close", () => (closed = true));
  const send = (response: Uint8Array, { port: to, address }: RemoteInfo): void => {
    // A response that the kernel does not take is lost, as any datagram can be.
    if (closed || socket.getSendQueueCount() > unsentMax) return;
    socket.send(response, to, address);
  };
  socket.on("message", (query, remote) => {
    // No client has port 0: the query was forged.
    if (remote.port === 0) return;
    const result = handle(query, new SocketSource("udp", host, remote));
    if (result instanceof Uint8Array) send(result, remote);
    else if (result instanceof Promise)
      void result.then((response) => response !== null && send(response, remote));
  });
  // The socket emits its event before bind() returns when the lookup returns at once.
  const bound = once(socket, "listening");
  socket.bind({ port, address: host, exclusive: true });
  await bound;
  // A response that cannot be sent is lost, as any datagram can be; the client retries.
  socket.on("error", () => {});
  socket.setRecvBufferSize(receiveBufferBytes);
  return socket;
}

/** RFC 7766 section 6.2.3 recommends a few seconds. */
const tcpIdleMilliseconds = 10_000;
const tcpConnectionsMax = 512;
/** Of RFC 7858, and required by RFC 9103 (transfers over TLS). Clients need not name a protocol. */
const tlsProtocols = ["dot"];
/** Responses that a client has not read. One more response, of at most 64 KiB, may exceed it. */
const unsentBytesMax = 128 * 1024;
/** Queries of one client that wait for a resolver. */
const unansweredMax = 100;

export interface TcpOptions extends ServerAddress {
  readonly handle: HandleQuery;
  /** For DNS over TLS. */
  readonly identity?: ServerIdentity;
  readonly idleMilliseconds?: number;
  readonly connectionsMax?: number;
}

/** At the limit, a new connection replaces the connection with the longest silence. */
export async function openTcp(options: TcpOptions): Promise<{
  readonly port: number;
  close(): Promise<void>;
  renew(identity: ServerIdentity): void;
}> {
  const { host, port, handle, identity } = options;
  const { idleMilliseconds = tcpIdleMilliseconds, connectionsMax = tcpConnectionsMax } = options;
  /** In the order of their last queries. */
  const connections = new Set<Socket>();
  let secureContext = identity && createSecureContext(identity);
  const secure = (socket: Socket): Socket =>
    new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: tlsProtocols });
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    const transport = secureContext === undefined ? "tcp" : "tls";
    const { remoteAddress: address = "", remotePort = 0 } = connection;
    const source = new SocketSource(transport, host, { address, port: remotePort });
    source.connection = connection;
    const socket = secureContext === undefined ? connection : secure(connection);
    const idle = setTimeout(() => socket.destroy(), idleMilliseconds);
    socket.once("close", () => {
      clearTimeout(idle);
      connections.delete(socket);
      source.connection = null;
    });
    if (connections.size >= connectionsMax) {
      const [silent] = connections;
      connections.delete(silent!);
      silent!.destroy();
    }
    connections.add(socket);
    serveTcp(socket, idle, (query) => {
      connections.delete(socket);
      connections.add(socket);
      return handle(query, source);
    });
  });
  server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") });
  await once(server, "listening");
  // A connection that cannot be accepted is lost; the client retries.
  server.on("error", () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
    renew(next) {
      if (secureContext !== undefined) secureContext = createSecureContext(next);
    },
  };
}

/** @param idle ends the connection; each query and each message of a transfer starts it again */
function serveTcp(
  socket: Socket,
  idle: NodeJS.Timeout,
  handle: (query: Uint8Array) => ReturnType<HandleQuery>,
): void {
  const frames = new Frames();
  /** Queries that have arrived and wait until the client reads its responses. */
  let queries: Generator<Uint8Array, void> | null = null;
  let unanswered = 0;
  let hasEnded = false;

  const isBehind = (): boolean =>
    socket.writableLength >= unsentBytesMax || unanswered >= unansweredMax;

  /** Handles queries while the client keeps up. `drain` and late responses continue the work. */
  const work = (): void => {
    if (socket.destroyed) return;
    socket.cork();
    while (queries !== null && !isBehind()) {
      const { value: query, done } = queries.next();
      if (done === true) queries = null;
      else answer(query);
    }
    socket.uncork();
    if (queries !== null) socket.pause();
    else if (hasEnded && unanswered === 0) socket.end();
    else socket.resume();
  };

  const answer = (query: Uint8Array): void => {
    idle.refresh();
    const result = handle(query);
    if (result === null) return;
    if (result instanceof Uint8Array) {
      socket.write(frame(result));
      return;
    }
    unanswered += 1;
    const sent = Symbol.asyncIterator in result ? sendAll(result) : sendLate(result);
    void sent.finally(() => {
      unanswered -= 1;
      work();
    });
  };

  const sendLate = async (response: Promise<Uint8Array | null>): Promise<void> => {
    const message = await response;
    if (message !== null && socket.writable) socket.write(frame(message));
  };

  /** Sends a transfer as fast as the client reads it. A client that reads nothing is idle. */
  const sendAll = async (messages: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const message of messages) {
      if (!socket.writable) return;
      idle.refresh();
      if (socket.write(frame(message))) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.once("drain", resolve).once("close", resolve);
      await promise;
      // A large zone waits often: what stays would be a leak, of which Node warns.
      socket.off("drain", resolve).off("close", resolve);
    }
  };

  socket.setNoDelay(true);
  socket.on("data", (piece) => {
    queries = frames.push(piece);
    work();
  });
  socket.on("drain", work);
  socket.on("end", () => {
    hasEnded = true;
    work();
  });
  // A client may disconnect at any time.
  socket.on("error", () => socket.destroy());
}
