/**
 * A proxy between the clients of a store and its owner, which loses answers.
 *
 * The owner listens at a Unix socket with a fixed path. The proxy renames this socket and listens in
 * its place, so every client that connects afterwards goes through the proxy. The proxy counts the
 * requests, by HTTP and through channels, and loses the answer of one of them:
 *
 * - before: the request does not reach the owner;
 * - after: the owner has executed the request, and no byte of the answer arrives;
 * - middle: the connection ends in the middle of the answer.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  type ChannelAnswer,
  type ChannelRequest,
  decodeFrame,
} from "../../../src/store/client/message.ts";
import { messageHead, WebSocketReader } from "../../../src/store/client/web-socket.ts";

export const losses = ["before", "after", "middle"] as const;
export type Loss = (typeof losses)[number];

interface Plan {
  readonly loss: Loss;
  /** Counted from 1. */
  readonly requestNumber: number;
  /** Called when the owner has executed the request, before the client sees the loss. */
  readonly meanwhile?: () => Promise<void>;
}

/** Where the owner of a store answers. */
export function endpointSocket(persistPath: string): string {
  return join(persistPath, "store/sockets/endpoint");
}

export class EndpointProxy {
  readonly #realPath: string;
  readonly #agent = new Agent({ keepAlive: false });
  #plan: Plan | undefined;
  #requests = 0;
  #channelRequests = 0;
  #lost = 0;

  private constructor(realPath: string) {
    this.#realPath = realPath;
  }

  static async start(path: string): Promise<EndpointProxy> {
    const realPath = `${path}-owner`;
    if (!existsSync(path)) throw new Error(`No owner listens at ${path}`);
    renameSync(path, realPath);
    const proxy = new EndpointProxy(realPath);
    const server = createServer((incoming, outgoing) => void proxy.#serve(incoming, outgoing));
    server.keepAliveTimeout = 0;
    const channels = new Set<Duplex>();
    server.on("upgrade", (incoming, client) => {
      channels.add(client);
      proxy.#serveChannel(incoming, client);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      for (const channel of channels) channel.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (existsSync(realPath)) renameSync(realPath, path);
      rmSync(realPath, { force: true });
    });
    return proxy;
  }

  /** Requests since the last `plan()`. */
  get requests(): number {
    return this.#requests;
  }

  /** The requests through channels. */
  get channelRequests(): number {
    return this.#channelRequests;
  }

  /** Answers lost since the last `plan()`. */
  get lost(): number {
    return this.#lost;
  }

  plan(plan?: Plan): void {
    this.#plan = plan;
    this.#requests = 0;
    this.#channelRequests = 0;
    this.#lost = 0;
  }

  /** The plan for the request that has arrived. */
  #nextPlan(): Plan | undefined {
    const requestNumber = ++this.#requests;
    return this.#plan?.requestNumber === requestNumber ? this.#plan : undefined;
  }

  #serveChannel({ method, url, rawHeaders }: IncomingMessage, client: Duplex): void {
    const owner = connect(this.#realPath);
    const end = (): void => {
      owner.destroy();
      client.destroy();
    };
    for (const socket of [owner, client]) socket.on("error", end).on("close", end);
    const headers = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}\r\n`] : [],
    );
    owner.write(`${method} ${url} HTTP/1.1\r\n${headers.join("")}\r\n`);

    const plans = new Map<string, Plan>();
    const requests = new ClientMessageReader();
    client.on("data", (chunk: Buffer) => {
      for (const message of requests.push(chunk)) {
        this.#channelRequests++;
        const plan = this.#nextPlan();
        if (plan?.loss === "before") {
          this.#lost++;
          return end();
        }
        if (plan) plans.set(decodeFrame<ChannelRequest>(message.buffer).id, plan);
        owner.write(Buffer.concat([messageHead(message.length), message]));
      }
    });

    const answers = new WebSocketReader();
    const lose = async (chunk: Buffer, { loss, meanwhile }: Plan): Promise<void> => {
      await meanwhile?.();
      this.#lost++;
      if (loss === "middle") {
        const half = chunk.subarray(0, Math.floor(chunk.length / 2));
        await new Promise((resolve) => client.write(half, resolve));
      }
      end();
    };
    owner.on("data", (chunk: Buffer) => {
      try {
        const complete = answers.push(chunk);
        const ids = complete.map((each) => decodeFrame<ChannelAnswer>(each.buffer).id);
        const lost = ids.map((id) => plans.get(id)).find((plan) => plan !== undefined);
        if (lost === undefined) client.write(chunk);
        else void lose(chunk, lost);
      } catch {
        end();
      }
    });
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const plan = this.#nextPlan();
    if (plan?.loss === "before") {
      // The client may still be sending the body.
      await buffer(incoming).catch(() => {});
      this.#lost++;
      incoming.socket.destroy();
      return;
    }
    try {
      const answer = await this.#forward(incoming);
      if (plan === undefined) {
        outgoing.writeHead(answer.status, answer.headers).end(answer.body);
        return;
      }
      await plan.meanwhile?.();
      this.#lost++;
      if (plan.loss === "middle") {
        outgoing.writeHead(answer.status, { "content-length": answer.body.length });
        const half = answer.body.subarray(0, Math.floor(answer.body.length / 2));
        await new Promise<void>((resolve) => outgoing.write(half, () => resolve()));
      }
      incoming.socket.destroy();
    } catch {
      incoming.socket.destroy();
    }
  }

  /** The request is sent as a whole, because workerd may answer and close before the end of an empty body. */
  async #forward(incoming: IncomingMessage) {
    const content = await buffer(incoming);
    const { "transfer-encoding": _, ...fields } = incoming.headers;
    return new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>(
      (resolve, reject) => {
        const forwarded = request({
          socketPath: this.#realPath,
          agent: this.#agent,
          method: incoming.method as string,
          path: incoming.url as string,
          headers: { ...fields, "content-length": content.length },
        });
        forwarded.once("error", reject);
        forwarded.once("response", (response) => {
          buffer(response).then((body) => {
            const type = response.headers["content-type"];
            const headers = {
              "content-length": String(body.length),
              ...(type !== undefined && { "content-type": type }),
            };
            resolve({ status: response.statusCode ?? 502, headers, body });
          }, reject);
        });
        forwarded.end(content);
      },
    );
  }
}

/** Reads the messages of a client, whose masks are zero. */
class ClientMessageReader {
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Uint8Array<ArrayBuffer>[] {
    const messages: Uint8Array<ArrayBuffer>[] = [];
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      if (this.#bytes.length < 2) return messages;
      const short = this.#bytes.readUInt8(1) & 0x7f;
      const headLength = short < 126 ? 6 : short === 126 ? 8 : 14;
      if (this.#bytes.length < headLength) return messages;
      const length =
        short < 126
          ? short
          : short === 126
            ? this.#bytes.readUInt16BE(2)
            : Number(this.#bytes.readBigUInt64BE(2));
      if (this.#bytes.length < headLength + length) return messages;
      messages.push(new Uint8Array(this.#bytes.subarray(headLength, headLength + length)));
      this.#bytes = this.#bytes.subarray(headLength + length);
    }
  }
}
