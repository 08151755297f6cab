/** DNS clients over plain sockets and HTTP. The package dns-packet encodes and decodes. */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import {
  decode,
  encode,
  RECURSION_DESIRED,
  type DecodedPacket,
  type Packet,
  type Question,
} from "dns-packet";

/** Loopback loses no packets: a missing answer is a failure of the server. */
const answerMillisecondsMax = 20_000;

export interface DnsClient {
  raw(query: Uint8Array): Promise<Buffer>;
  ask(name: string, type: Question["type"], more?: Partial<Packet>): Promise<DecodedPacket>;
  close(): void;
}

/** Matches answers to queries by their identifier, in any order. */
abstract class MatchingClient implements DnsClient {
  readonly #waiting = new Map<number, PromiseWithResolvers<Buffer>>();
  #id = 0;

  protected abstract send(query: Uint8Array): void;
  abstract close(): void;

  protected received(answer: Buffer): void {
    this.#waiting.get(answer.readUInt16BE(0))?.resolve(answer);
  }

  protected failed(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  async raw(query: Uint8Array): Promise<Buffer> {
    const id = (query[0]! << 8) | query[1]!;
    const waiting = Promise.withResolvers<Buffer>();
    this.#waiting.set(id, waiting);
    const late = setTimeout(
      () => waiting.reject(new Error("No answer arrived.")),
      answerMillisecondsMax,
    );
    try {
      this.send(query);
      return await waiting.promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(id);
    }
  }

  async ask(
    name: string,
    type: Question["type"],
    more: Partial<Packet> = {},
  ): Promise<DecodedPacket> {
    this.#id = (this.#id + 1) & 0xffff;
    return decode(await this.raw(encodeQuery(name, type, { id: this.#id, ...more })));
  }
}

export function encodeQuery(
  name: string,
  type: Question["type"],
  more: Partial<Packet> = {},
): Buffer {
  const questions = [{ name, type }];
  return encode({ type: "query", id: 1, flags: RECURSION_DESIRED, questions, ...more });
}

export class UdpClient extends MatchingClient {
  readonly #socket: UdpSocket;
  readonly #to: { readonly port: number; readonly host: string };

  constructor(port: number, host = "127.0.0.1") {
    super();
    this.#to = { port, host };
    this.#socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    this.#socket.on("message", (answer) => this.received(answer));
    this.#socket.on("error", (error) => this.failed(error));
  }

  protected send(query: Uint8Array): void {
    this.#socket.send(query, this.#to.port, this.#to.host);
  }

  close(): void {
    this.#socket.close();
  }
}

export class TcpClient extends MatchingClient {
  readonly socket: Socket;
  #rest = Buffer.alloc(0);

  private constructor(socket: Socket) {
    super();
    this.socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, piece]);
      while (this.#rest.length >= 2) {
        const end = 2 + this.#rest.readUInt16BE(0);
        if (this.#rest.length < end) return;
        this.received(this.#rest.subarray(2, end));
        this.#rest = this.#rest.subarray(end);
      }
    });
    socket.on("error", (error) => this.failed(error));
    socket.on("close", () => this.failed(new Error("The server closed the connection.")));
  }

  /** @param tls the options of DNS over TLS */
  static async connect(
    port: number,
    host = "127.0.0.1",
    tls?: ConnectionOptions,
  ): Promise<TcpClient> {
    const address = { port, host, noDelay: true };
    const socket = tls === undefined ? connect(address) : connectTls({ ...tls, ...address });
    await once(socket, tls === undefined ? "connect" : "secureConnect");
    return new TcpClient(socket);
  }

  protected send(query: Uint8Array): void {
    this.socket.write(withLength(query));
  }

  close(): void {
    this.socket.destroy();
  }
}

export function withLength(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(message.length + 2);
  framed.writeUInt16BE(message.length);
  framed.set(message, 2);
  return framed;
}

/** RFC 8484 by POST. */
export class DohClient extends MatchingClient {
  readonly #url: URL;

  constructor(apiUrl: string) {
    super();
    this.#url = new URL("/dns-query", apiUrl);
  }

  override async raw(query: Uint8Array): Promise<Buffer> {
    // workerd closes a connection that was idle for 5 s, perhaps while a request is on its way.
    const headers = { "content-type": "application/dns-message", connection: "close" };
    const body = new Uint8Array(query);
    const response = await fetch(this.#url, { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  }

  protected send(): void {}
  close(): void {}
}
