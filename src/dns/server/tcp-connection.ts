/**
 * A client on a TCP connection (RFC 7766): as many queries as it likes, one after another without
 * waiting, answered as answers are ready. What a client can make us hold is bounded: while it does
 * not take its answers, or many of its queries wait for a resolver, nothing more is read from it.
 * One that says nothing complete for a while, or takes nothing, is let go.
 */
import type { Socket } from "node:net";
import type { Asker } from "../answer/responder.ts";
import { octetsOf } from "./address-octets.ts";
import type { Answerer } from "./answerer.ts";
import { frame, Frames } from "../wire/tcp-frames.ts";

/** Answers that a client has not taken yet. One more may be on top, of at most 64 KiB. */
const unsentBytesMax = 128 * 1024;
/** Queries of one client that wait for a resolver. */
const unansweredMax = 100;

export interface TcpConnectionOptions {
  readonly answerer: Answerer;
  readonly idleMilliseconds: number;
  /** The client has said something. */
  readonly active: () => void;
}

export class TcpConnection {
  readonly #socket: Socket;
  readonly #answerer: Answerer;
  readonly #asker: Asker;
  readonly #active: () => void;
  readonly #frames = new Frames();
  readonly #idle: NodeJS.Timeout;
  /** What has arrived and is not answered yet, because the client is behind. */
  #queries: Generator<Uint8Array, void> | null = null;
  #unanswered = 0;
  #ended = false;

  constructor(socket: Socket, { answerer, idleMilliseconds, active }: TcpConnectionOptions) {
    this.#socket = socket;
    this.#answerer = answerer;
    this.#active = active;
    this.#asker = { transport: "tcp", address: octetsOf(socket.remoteAddress ?? "") };
    this.#idle = setTimeout(() => socket.destroy(), idleMilliseconds);
    socket.setNoDelay(true);
    socket.on("data", (piece) => {
      this.#queries = this.#frames.push(piece);
      this.#work();
    });
    socket.on("drain", () => this.#work());
    socket.on("end", () => {
      this.#ended = true;
      this.#work();
    });
    // Clients hang up as they please.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => clearTimeout(this.#idle));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get #isBehind(): boolean {
    return this.#socket.writableLength >= unsentBytesMax || this.#unanswered >= unansweredMax;
  }

  /** Answers what can be answered; what cannot is taken up by `drain`, or when an answer comes. */
  #work(): void {
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    while (this.#queries !== null && !this.#isBehind) {
      const { value: query, done } = this.#queries.next();
      if (done === true) this.#queries = null;
      else this.#answer(query);
    }
    this.#socket.uncork();
    if (this.#queries !== null) this.#socket.pause();
    else if (this.#ended && this.#unanswered === 0) this.#socket.end();
    else this.#socket.resume();
  }

  #answer(query: Uint8Array): void {
    this.#idle.refresh();
    this.#active();
    const answer = this.#answerer.answer(query, this.#asker);
    if (answer === null) return;
    if (answer instanceof Uint8Array) {
      this.#socket.write(frame(answer));
      return;
    }
    this.#unanswered += 1;
    const sent = Symbol.asyncIterator in answer ? this.#stream(answer) : this.#late(answer);
    void sent.finally(() => {
      this.#unanswered -= 1;
      this.#work();
    });
  }

  async #late(answer: Promise<Uint8Array | null>): Promise<void> {
    const message = await answer;
    if (message !== null && this.#socket.writable) this.#socket.write(frame(message));
  }

  /** As fast as the client takes it; one that takes nothing for a while is idle. */
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
