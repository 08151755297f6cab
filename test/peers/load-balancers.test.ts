/**
 * The load balancers of examples/cluster, as a real HAProxy and nginx execute their files. A write that a
 * runtime may have executed is not sent again: its client would get 412 by the success of the write.
 */
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startBalancer, type Balancer } from "../../examples/cluster/cluster/balancer.ts";
import { startCluster } from "../../examples/cluster/cluster/cluster.ts";
import { startHaproxy } from "../../examples/cluster/cluster/haproxy.ts";
import { makePlaces } from "../../examples/cluster/cluster/places.ts";
import { startOwnService } from "../../examples/cluster/cluster/s3-service.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "./support.ts";

type StartBalancer = (origins: readonly string[]) => Promise<Balancer>;

const balancers: readonly (readonly [name: string, start: StartBalancer])[] = [
  ["the balancer of the example", (origins) => startBalancer(origins, 0)],
  ["HAProxy", async (origins) => startHaproxy(origins, await freePort(), temporaryFolder())],
  ["nginx", startNginx],
];

const methods = ["GET", "PUT", "POST", "DELETE"];

const nginxFile = new URL("../../examples/cluster/nginx.conf", import.meta.url);

async function startNginx(origins: readonly string[]): Promise<Balancer> {
  const folder = temporaryFolder();
  const port = await freePort();
  const addresses = origins.map((origin) => origin.slice("http://".length));
  const site = readFileSync(nginxFile, "utf8")
    .replace("listen 80;", `listen 127.0.0.1:${port};`)
    .replaceAll(/10\.0\.0\.1\d:8080/g, () => addresses.shift() as string);
  writeFileSync(join(folder, "site.conf"), site);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const whole = [
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;`,
    "worker_processes 1; events {}",
    `http { access_log off; ${temporary.join(" ")} include ${folder}/site.conf; }`,
  ];
  // As root, the worker has the rights of the owner of the folder.
  if (process.getuid?.() === 0) whole.unshift("user root;");
  const path = join(folder, "nginx.conf");
  writeFileSync(path, whole.join("\n"));
  execFileSync("nginx", ["-t", "-q", "-c", path], { stdio: "inherit" });
  const child = spawn("nginx", ["-c", path], { stdio: "inherit" });
  const ended = once(child, "exit");
  const origin = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${origin}/health`)).ok).toBe(true), 30_000);
  return {
    origin,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

describe.each(balancers)("%s", (_, start) => {
  it("sends a request again if it only reads, or if no runtime has received it", async () => {
    const [broken, sound] = [await startRuntime(), await startRuntime()];
    const balancer = await start([broken.origin, sound.origin]);
    onTestFinished(() => balancer.close());

    for (const method of methods) {
      broken.breakNext();
      // Until the balancer chooses the runtime that breaks.
      while (broken.willBreak) {
        const path = `/${method}/${randomBytes(4).toString("hex")}`;
        const { status } = await send(balancer.origin + path, { method, body: bodyOf(method) });
        if (broken.willBreak) continue;
        const received = [broken, sound].flatMap(({ requests }) => requests);
        const times = received.filter((request) => request === `${method} ${path}`).length;
        const [statuses, count] = method === "GET" ? [[200], 2] : [[502, null], 1];
        expect([method, times]).toEqual([method, count]);
        expect(statuses).toContain(status);
      }
    }

    await broken.close();
    for (const method of methods) {
      const statuses = [];
      for (let turn = 0; turn < 4; turn++) {
        const answer = await fetch(`${balancer.origin}/down`, { method, body: bodyOf(method) });
        statuses.push(answer.status);
      }
      expect([method, ...statuses]).toEqual([method, 200, 200, 200, 200]);
    }
  });

  it("loses no acknowledged write, and refuses no condition that holds, while runtimes are killed", async () => {
    const folder = temporaryFolder();
    const service = await startOwnService({
      stateFolder: join(folder, "state"),
      host: "127.0.0.1",
    });
    onTestFinished(() => service.stop());
    const cluster = await startCluster({
      places: makePlaces({ onlyProcesses: true }),
      service,
      folder,
      startBalancer: start,
      log: () => {},
    });
    onTestFinished(() => cluster.stop());
    const { origin } = cluster.balancer;

    let isLoaded = true;
    const writers = Array.from({ length: 8 }, (_each, index) =>
      countUp(`${origin}/notes/counter-${index}`, () => isLoaded),
    );
    for (const turn of [0, 1, 0, 1]) {
      const runtime = cluster.runtimes[turn] as (typeof cluster.runtimes)[number];
      const before = writers.map(({ progress }) => progress());
      const advanced = () =>
        vi.waitFor(
          () => {
            const now = writers.map(({ progress }) => progress());
            expect(now.every((count, index) => count >= (before[index] as number) + 10)).toBe(true);
          },
          { timeout: 60_000, interval: 20 },
        );
      await advanced();
      await runtime.kill();
      await runtime.start();
    }
    isLoaded = false;
    const results = await Promise.all(writers.map(({ result }) => result));
    expect(results.flatMap(({ problems }) => problems)).toEqual([]);
    for (const [index, { acknowledged }] of results.entries()) {
      for (const runtime of cluster.runtimes) {
        const note = await fetch(`${runtime.origin}/notes/counter-${index}`);
        expect(Number(await note.text())).toBe(acknowledged);
      }
    }
  });
});

/**
 * A client that alone counts a note up, each time by a condition. After an answer that leaves open whether the
 * write was executed, it reads before it writes again.
 */
function countUp(url: string, isLoaded: () => boolean) {
  let acknowledged = 0;
  const problems: string[] = [];
  const run = async (): Promise<void> => {
    let condition: Record<string, string> = { "if-none-match": "*" };
    while (isLoaded()) {
      const next = acknowledged + 1;
      const written = await send(url, { method: "PUT", body: String(next), headers: condition });
      if (written.status === 200) {
        acknowledged = next;
        condition = { "if-match": written.etag };
        continue;
      }
      // HAProxy ends the connection of a client that has sent requests before.
      if (![null, 502, 504].includes(written.status)) {
        problems.push(`${next}: ${written.status} ${written.text}`);
        return;
      }
      const found = await readUntilAnswer(url);
      if (found === null) {
        if (acknowledged > 0) problems.push(`${acknowledged}: is lost`);
        continue;
      }
      // The write whose answer was lost may have been executed.
      if (![acknowledged, next].includes(found.count)) {
        problems.push(`${found.count} instead of ${acknowledged} or ${next}`);
      }
      acknowledged = found.count;
      condition = { "if-match": found.etag };
    }
  };
  return { progress: () => acknowledged, result: run().then(() => ({ acknowledged, problems })) };
}

async function readUntilAnswer(url: string): Promise<{ count: number; etag: string } | null> {
  for (;;) {
    const { status, text, etag } = await send(url);
    if (status === 200) return { count: Number(text), etag };
    if (status === 404) return null;
  }
}

/** `null` for the status: the connection ended without an answer. */
async function send(url: string, init?: RequestInit) {
  try {
    const answer = await fetch(url, init);
    const etag = answer.headers.get("etag") ?? "";
    return { status: answer.status, text: await answer.text(), etag };
  } catch {
    return { status: null, text: "", etag: "" };
  }
}

/** A runtime that executes a request and ends the connection without an answer, when it is told to. */
async function startRuntime() {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let willBreak = false;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url === "/health") return void response.end("ok\n");
      requests.push(`${request.method} ${request.url}`);
      if (!willBreak) return void response.end();
      willBreak = false;
      request.socket.destroy();
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get willBreak() {
      return willBreak;
    },
    breakNext() {
      willBreak = true;
    },
    close,
  };
}

function bodyOf(method: string): string | null {
  return method === "GET" || method === "DELETE" ? null : "content";
}
