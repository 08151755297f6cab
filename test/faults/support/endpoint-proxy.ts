/**
 * A proxy between the clients of a store and its owner, which loses answers.
 *
 * The owner listens at a Unix socket with a fixed path. The proxy renames this socket and listens in
 * its place, so every client that connects afterwards goes through the proxy. The proxy counts the
 * requests, and loses the answer of one of them:
 *
 * - before: the request does not reach the owner;
 * - after: the owner has executed the request, and no byte of the answer arrives;
 * - middle: the connection ends in the middle of the answer.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

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
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
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

  /** Answers lost since the last `plan()`. */
  get lost(): number {
    return this.#lost;
  }

  plan(plan?: Plan): void {
    this.#plan = plan;
    this.#requests = 0;
    this.#lost = 0;
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const requestNumber = ++this.#requests;
    const plan = this.#plan?.requestNumber === requestNumber ? this.#plan : undefined;
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

  #forward(incoming: IncomingMessage) {
    return new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>(
      (resolve, reject) => {
        const forwarded = request({
          socketPath: this.#realPath,
          agent: this.#agent,
          method: incoming.method as string,
          path: incoming.url as string,
          headers: incoming.headers,
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
        incoming.pipe(forwarded);
      },
    );
  }
}
