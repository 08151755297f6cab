/**
 * Queries over UDP. Most of the cost of a datagram is Node's: the buffer and the address objects,
 * and the system call that sends the response. This file avoids two costs: `lookup` returns at once
 * (the default waits for the next tick even for an address), and `send()` has no callback.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import type { QueryHandler } from "./query-handler.ts";
import { UdpSource } from "./query-source.ts";

/** For bursts. The kernel may grant less. */
const receiveBufferBytes = 4 * 1024 * 1024;

/** Responses that wait for the kernel. */
const unsentMax = 1000;

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export interface UdpOptions extends SocketAddress {
  /** Share the port with other threads; the kernel distributes the queries. */
  readonly reusePort: boolean;
  readonly handler: QueryHandler;
}

export function openUdp({ host, port, reusePort, handler }: UdpOptions): Promise<Socket> {
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
    const result = handler.handle(query, new UdpSource(remote));
    if (result instanceof Uint8Array) send(result, remote);
    else if (result instanceof Promise)
      void result.then((response) => response !== null && send(response, remote));
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.off("error", reject);
      // A response that cannot be sent is lost, as any datagram can be; the client retries.
      socket.on("error", () => {});
      socket.setRecvBufferSize(receiveBufferBytes);
      resolve(socket);
    });
  });
}
