/**
 * A load balancer: requests go to the runtimes in turn. A runtime that refuses a connection or fails
 * its health check gets no requests until it answers again. A request that only reads, and whose runtime
 * went away, is sent to another runtime, and so is any request that no runtime has received.
 *
 * HAProxy and nginx do the same, and more: haproxy.cfg and nginx.conf.
 */
import { once } from "node:events";
import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface Balancer {
  readonly origin: string;
  close(): Promise<void>;
}

const healthPath = "/health";
const healthMilliseconds = 500;
const connectMillisecondsMax = 2_000;
/** A larger body is not kept, so its request is sent once. */
const keptBytesMax = 8 * 1024 * 1024;

/**
 * @param targets the origins of the runtimes
 * @param port 0: any free port
 */
export async function startBalancer(targets: readonly string[], port: number): Promise<Balancer> {
  const down = new Set<string>();
  let turn = 0;

  const next = (tried: ReadonlySet<string>): string | undefined => {
    const left = targets.filter((target) => !tried.has(target));
    const healthy = left.filter((target) => !down.has(target));
    const candidates = healthy.length > 0 ? healthy : left;
    return candidates[turn++ % candidates.length];
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await readStart(incoming);
    // A runtime that went away may have executed a write: only the client knows whether to write again.
    const mayRepeat = body.isWhole && ["GET", "HEAD"].includes(incoming.method ?? "");
    const tried = new Set<string>();
    for (;;) {
      const target = next(tried);
      if (target === undefined) return void outgoing.writeHead(502).end("No runtime answers.\n");
      tried.add(target);
      try {
        const answer = await forward(target, incoming, body);
        outgoing.writeHead(answer.statusCode as number, answer.headers);
        answer.on("error", () => outgoing.destroy()).pipe(outgoing);
        return;
      } catch (error) {
        down.add(target);
        const wasSent = (error as NodeJS.ErrnoException).code !== "ECONNREFUSED";
        if (wasSent && !mayRepeat) {
          return void outgoing.writeHead(502).end("The runtime went away during the request.\n");
        }
        if (!body.isWhole) return void outgoing.writeHead(503).end("Send the request again.\n");
      }
    }
  };

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // A client that pauses for some seconds would find its connection closed in the moment it writes.
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const checks = setInterval(() => {
    for (const target of targets) {
      void isHealthy(target).then((isUp) => (isUp ? down.delete(target) : down.add(target)));
    }
  }, healthMilliseconds);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      clearInterval(checks);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Body {
  readonly start: readonly Buffer[];
  readonly isWhole: boolean;
}

async function readStart(incoming: IncomingMessage): Promise<Body> {
  const start: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    start.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > keptBytesMax) return { start, isWhole: false };
  }
  return { start, isWhole: true };
}

function forward(target: string, incoming: IncomingMessage, body: Body): Promise<IncomingMessage> {
  const { method, headers, url } = incoming;
  return new Promise((resolve, reject) => {
    // A runtime that does not accept connections any more must not keep the request.
    const sent = send(target + url, { method, headers, agent: false }, resolve);
    const timer = setTimeout(
      () => sent.destroy(new Error("no connection")),
      connectMillisecondsMax,
    );
    sent.on("socket", (socket) => socket.once("connect", () => clearTimeout(timer)));
    sent.on("close", () => clearTimeout(timer));
    sent.on("error", reject);
    for (const chunk of body.start) sent.write(chunk);
    if (body.isWhole) sent.end();
    else incoming.pipe(sent);
  });
}

async function isHealthy(target: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(connectMillisecondsMax);
    return (await fetch(target + healthPath, { signal })).ok;
  } catch {
    return false;
  }
}
