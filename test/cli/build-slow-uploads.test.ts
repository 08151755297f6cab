/** The memory of a runtime of `ledge build` while clients upload slowly, and after they have gone. */
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build, clusterProject, serve, type EdgeBuild } from "../support/edge-runtime.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";

const script = `
let begun = 0;
export default {
  async fetch(request, { PHOTOS }) {
    if (request.method !== "PUT") return Response.json(begun);
    begun++;
    const { pathname } = new URL(request.url);
    return Response.json((await PHOTOS.put(pathname, request.body)).etag);
  },
};
`;
const connections = 1000;
const atOnce = 100;
const bytesMax = 64 * 1024 * 1024;

let made: EdgeBuild;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const server = await startCluster(join(folder, "state"));
  const project = clusterProject(
    join(folder, "project"),
    { endpoint: server.url },
    { "index.js": script },
  );
  made = await build(project, "--no-probe");
  return async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

function residentBytes(pid: number): number {
  const [, kilobytes = ""] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

it("stores streams of any length, around the lengths of the reads", async () => {
  const runtime = await serve(made, keys);
  const kibibyte = 1024;
  const lengths = [0, 1, 8, 16, 64, 2048, 4096].flatMap((kibibytes) =>
    [-1, 0, 1, 2].map((more) => kibibytes * kibibyte + more),
  );
  const wrong: number[] = [];
  for (const length of lengths.filter((each) => each > 0)) {
    const body = Buffer.alloc(length, "0123456789");
    const answer = await runtime.fetch(`${length}`, { method: "PUT", body });
    if ((await answer.text()) !== JSON.stringify(hash("md5", body))) wrong.push(length);
  }
  expect(wrong).toEqual([]);
});

it.runIf(existsSync("/proc/self/status"))(
  "grows with the bytes that have arrived, and not with the uploads",
  async () => {
    const runtime = await serve(made, keys);
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const waitForUploads = (count: number) =>
      vi.waitFor(async () => expect(await (await runtime.fetch("count")).json()).toBe(count), {
        timeout: 60_000,
        interval: 50,
      });
    expect((await runtime.fetch("first", { method: "PUT", body: "text" })).status).toBe(200);
    await waitForUploads(1);
    const before = residentBytes(runtime.pid);
    for (let opened = 0; opened < connections;) {
      for (let number = 0; number < atOnce; number++) {
        const socket = connect(runtime.port);
        socket.on("error", () => {});
        sockets.push(socket);
      }
      const some = sockets.slice(opened);
      await Promise.all(some.map((socket) => once(socket, "connect")));
      for (const [index, socket] of some.entries()) {
        socket.write(
          `PUT /${opened + index} HTTP/1.1\r\nhost: a\r\ncontent-length: 8000000\r\n\r\nx`,
        );
      }
      opened += atOnce;
      await waitForUploads(1 + opened);
      const grown = residentBytes(runtime.pid) - before;
      expect(grown, `${opened} uploads`).toBeLessThan(bytesMax);
      // The clients go, and others come.
      for (const socket of some) socket.destroy();
    }
  },
);
