/**
 * A TCP connection (RFC 7766). A client sends any number of queries without waiting, and responses
 * go out as they are ready. The memory for a client is bounded: while the client does not read its
 * responses, or many of its queries wait for a resolver, the connection reads nothing. A client
 * that completes no query for a while, or reads nothing, is disconnected.
 */
import type { Socket } from "node:net";
import type { QuerySource } from "../answer/query.ts";
import { frame, Frames } from "../wire/tcp-frames.ts";
import type { QueryHandler } from "./query-handler.ts";
import { SocketSource } from "./query-source.ts";

/** Responses that a client has not read. One more response, of at most 64 KiB, may exceed it. */
const unsentBytesMax = 128 * 1024;
/** Queries of one client that wait for a resolver. */
const unansweredMax = 100;

export interface TcpConnectionOptions {
  readonly handler: QueryHandler;
  /** The address that the client has connected to */
  readonly server: string;
  readonly idleMilliseconds: number;
  /** Called for every query. */
  readonly onQuery: () => void;
}

export class TcpConnection {
  readonly #socket: Socket;
  readonly #handler: QueryHandler;
  readonly #source: QuerySource;
  readonly #onQuery: () => void;
  readonly #frames = new Frames();
  readonly #idle: NodeJS.Timeout;
  /** Queries that have arrived and wait until the client reads its responses. */
  #queries: Generator<Uint8Array, void> | null = null;
  #unanswered = 0;
  #ended = false;

  constructor(socket: Socket, options: TcpConnectionOptions) {
    const { handler, server, idleMilliseconds, onQuery } = options;
    this.#socket = socket;
    this.#handler = handler;
    this.#onQuery = onQuery;
    this.#source = new SocketSource("tcp", server, socket.remoteAddress ?? "");
    this.#idle = setTimeout(() => socket.destroy(), idleMilliseconds);
    socket.setNoDelay(true);
    socket.on("data", (piece) => {
      this.#queries = this.#frames.push(piece);
      this.#process();
    });
    socket.on("drain", () => this.#process());
    socket.on("end", () => {
      this.#ended = true;
      this.#process();
    });
    // A client may disconnect at any time.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => clearTimeout(this.#idle));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get #isBehind(): boolean {
    return this.#socket.writableLength >= unsentBytesMax || this.#unanswered >= unansweredMax;
  }

  /** Handles queries while the client keeps up. `drain` and late responses continue the work. */
  #process(): void {
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    while (this.#queries !== null && !this.#isBehind) {
      const { value: query, done } = this.#queries.next();
      if (done === true) this.#queries = null;
      else this.#handle(query);
    }
    this.#socket.uncork();
    if (this.#queries !== null) this.#socket.pause();
    else if (this.#ended && this.#unanswered === 0) this.#socket.end();
    else this.#socket.resume();
  }

  #handle(query: Uint8Array): void {
    this.#idle.refresh();
    this.#onQuery();
    const result = this.#handler.handle(query, this.#source);
    if (result === null) return;
    if (result instanceof Uint8Array) {
      this.#socket.write(frame(result));
      return;
    }
    this.#unanswered += 1;
    const sent = Symbol.asyncIterator in result ? this.#stream(result) : this.#sendLate(result);
    void sent.finally(() => {
      this.#unanswered -= 1;
      this.#process();
    });
  }

  async #sendLate(response: Promise<Uint8Array | null>): Promise<void> {
    const message = await response;
    if (message !== null && this.#socket.writable) this.#socket.write(frame(message));
  }

  /** Sends a transfer as fast as the client reads it. A client that reads nothing is idle. */
  async #stream(messages: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const message of messages) {
      if (!this.#socket.writable) return;
      this.#idle.refresh();
      if (this.#socket.write(frame(message))) continue;
      await new Promise<void>((resolve) => {
        this.#socket.once("drain", resolve);
        this.#socket.once("close", resolve);
      });
    }
  }
}
