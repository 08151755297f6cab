/**
 * Queries over UDP. Most of the cost of a datagram is Node's: the buffer and the address objects,
 * and the system call that sends the response. This file avoids two costs: `lookup` returns at once
 * (the default waits for the next tick even for an address), and `send()` has no callback.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import type { ServerAddress } from "../config/dns-table.ts";
import type { QueryHandler } from "./query-handler.ts";
import { SocketSource } from "./query-source.ts";

/** For bursts. The kernel may grant less. */
const receiveBufferBytes = 4 * 1024 * 1024;

/** Responses that wait for the kernel. */
const unsentMax = 1000;

export interface UdpOptions extends ServerAddress {
  /** Share the port with other threads; the kernel distributes the queries. */
  readonly reusePort: boolean;
  readonly handler: QueryHandler;
}

export async function openUdp({ host, port, reusePort, handler }: UdpOptions): Promise<Socket> {
  const ipv6 = host.includes(":");
  const socket = createSocket({
    type: ipv6 ? "udp6" : "udp4",
    ipv6Only: ipv6,
    reusePort,
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
    const result = handler.handle(query, new SocketSource("udp", host, remote.address));
    if (result instanceof Uint8Array) send(result, remote);
    else if (result instanceof Promise)
      void result.then((response) => response !== null && send(response, remote));
  });
  await bind(socket, { host, port });
  // A response that cannot be sent is lost, as any datagram can be; the client retries.
  socket.on("error", () => {});
  socket.setRecvBufferSize(receiveBufferBytes);
  return socket;
}

/** Fails when another process has the port, which a `reusePort` socket would share with it. */
export async function checkUnshared({ host, port }: ServerAddress): Promise<void> {
  const ipv6 = host.includes(":");
  const socket = createSocket({ type: ipv6 ? "udp6" : "udp4", ipv6Only: ipv6 });
  await bind(socket, { host, port });
  socket.close();
  await once(socket, "close");
}

async function bind(socket: Socket, { host, port }: ServerAddress): Promise<void> {
  // The socket emits its event before bind() returns when the lookup returns at once.
  const bound = once(socket, "listening");
  socket.bind({ port, address: host, exclusive: true });
  await bound;
}
