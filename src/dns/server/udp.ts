/**
 * Queries over UDP. What a datagram costs is mostly Node's: the buffer and the sender's address
 * that are made for it, and the call into the kernel on the way back. Two things are saved here:
 * the address of an answer is not looked up (it is an address, and the default would still wait
 * for the next tick), and nobody waits to hear that it was sent.
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { octetsOf } from "./address-octets.ts";
import type { Answerer } from "./answerer.ts";
import type { Asker } from "../answer/responder.ts";

/** For bursts; the kernel gives less where its own limit is lower. */
const receiveBufferBytes = 4 * 1024 * 1024;

/** Answers that wait for the kernel. */
const unsentMax = 1000;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface UdpOptions extends Endpoint {
  /** Other threads listen at the same port, and the kernel deals the queries out among them. */
  readonly reusePort: boolean;
  readonly answerer: Answerer;
}

/** Octets of the address are wanted for cookies only, so they are made when asked for. */
class UdpAsker implements Asker {
  readonly transport = "udp";
  readonly #remote: RemoteInfo;

  constructor(remote: RemoteInfo) {
    this.#remote = remote;
  }

  get address(): Uint8Array {
    return octetsOf(this.#remote.address);
  }
}

export function openUdp({ host, port, reusePort, answerer }: UdpOptions): Promise<Socket> {
  const ipv6 = host.includes(":");
  const socket = createSocket({
    type: ipv6 ? "udp6" : "udp4",
    ipv6Only: ipv6,
    reusePort,
    lookup: (address, _options, done) => done(null, address, ipv6 ? 6 : 4),
  });
  let closed = false;
  socket.once("close", () => (closed = true));
  const send = (answer: Uint8Array, { port: to, address }: RemoteInfo): void => {
    // What the kernel does not take is lost, as any datagram may be: nothing piles up here.
    if (closed || socket.getSendQueueCount() > unsentMax) return;
    socket.send(answer, to, address);
  };
  socket.on("message", (query, remote) => {
    // Nobody can be reached at port 0: the query was forged.
    if (remote.port === 0) return;
    const answer = answerer.answer(query, new UdpAsker(remote));
    if (answer instanceof Uint8Array) send(answer, remote);
    else if (answer instanceof Promise)
      void answer.then((late) => late !== null && send(late, remote));
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ port, address: host, exclusive: true }, () => {
      socket.off("error", reject);
      // An answer that cannot be sent is lost as any datagram may be; whoever asked asks again.
      socket.on("error", () => {});
      socket.setRecvBufferSize(receiveBufferBytes);
      resolve(socket);
    });
  });
}
