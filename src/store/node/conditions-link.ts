/**
 * A connection that holds conditions: they are in force while the connection is open. It is a
 * WebSocket, whose messages are JSON in bytes: to each request the other end sends a report.
 */
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { messageHead, upgradeRequest, WebSocketReader } from "../client/web-socket.ts";
import { EndpointClosedError } from "./endpoint-connection.ts";

export interface ConditionsPlace {
  readonly address: NetConnectOpts;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface WaitingRequest {
  readonly resolve: (report: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An end that works answers within this time, also when many uploads expire. */
const answerMilliseconds = 20_000;

export class ConditionsLink {
  /** Resolves when the connection has ended, and with it the conditions. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #reader = new WebSocketReader();
  readonly #waiting: WaitingRequest[] = [];
  /** The messages that wait for the upgrade. */
  #unsent: Uint8Array[] = [];
  #error: Error | undefined;

  constructor({ address, path, headers }: ConditionsPlace) {
    const socket = connect(address);
    this.#socket = socket;
    // The conditions end with the process, which does not wait for them.
    socket.unref();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(upgradeRequest(path, lines), "latin1");
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#error = error));
    this.ended = new Promise((resolve) => {
      socket.once("close", () => {
        const reason = this.#error?.message ?? "the connection was closed";
        for (const { reject } of this.#waiting.splice(0)) reject(new EndpointClosedError(reason));
        resolve();
      });
    });
  }

  /** @throws EndpointClosedError */
  async send<Report>(request: object): Promise<Report> {
    if (this.#socket.destroyed) throw new EndpointClosedError("the connection was closed");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.push({ resolve, reject });
    const message = Buffer.from(JSON.stringify(request));
    if (this.#reader.isOpen) this.#write(message);
    else this.#unsent.push(message);
    const seconds = answerMilliseconds / 1000;
    const timer = setTimeout(
      () => this.#socket.destroy(new Error(`no answer within ${seconds} s`)),
      answerMilliseconds,
    );
    try {
      return (await promise) as Report;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #write(message: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(messageHead(message.length));
    this.#socket.write(message);
    this.#socket.uncork();
  }

  #receive(chunk: Uint8Array): void {
    try {
      const messages = this.#reader.push(chunk);
      if (this.#reader.isOpen) for (const each of this.#unsent.splice(0)) this.#write(each);
      for (const message of messages) {
        this.#waiting.shift()?.resolve(JSON.parse(Buffer.from(message).toString("utf8")));
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }
}
