/** The status of a runtime of `ledge build`: whether it answers, whether its services do, its metrics and its log. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build, clusterProject, serve, type EdgeBuild } from "../support/edge-runtime.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";

const script = `
export default {
  async fetch(request, { PHOTOS }) {
    const key = new URL(request.url).pathname.slice(1);
    if (key === "trace") return new Response(new Error("of the script").stack);
    try {
      if (request.method === "PUT") return Response.json((await PHOTOS.put(key, await request.text())).size);
      return Response.json(await PHOTOS.head(key));
    } catch (error) {
      return new Response(error.message, { status: 503 });
    }
  },
};
`;

let proxy: FaultyProxy;
let made: EdgeBuild;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const server = await startCluster(join(folder, "state"));
  proxy = await startFaultyProxy(server.url);
  made = await build(project("project", folder), "--no-probe");
  return async () => {
    await proxy.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

function project(name: string, folder: string): string {
  return clusterProject(join(folder, name), { endpoint: proxy.endpoint }, { "index.js": script });
}

it("says that the process answers, and whether the service of each bucket does", async () => {
  const runtime = await serve(made, keys);
  for (const path of ["healthz", "readyz"]) {
    expect(await (await runtime.status(path)).text()).toBe("ok\n");
  }
  expect((await runtime.status("other")).status).toBe(404);

  proxy.setRule(() => ({ kind: "drop" }));
  // An answer is kept for a second.
  const unready = await vi.waitFor(
    async () => {
      const answer = await runtime.status("readyz");
      expect(answer.status).toBe(503);
      return answer.text();
    },
    { timeout: 30_000, interval: 100 },
  );
  expect(unready).toMatch(/^env\.PHOTOS: The remote "cluster" \(\S+\) gave no answer: .*\n$/);
  expect((await runtime.status("healthz")).status).toBe(200);

  proxy.setRule(() => ({ kind: "stall", isExecuted: false }));
  await vi.waitFor(
    async () => {
      const silent = await (await runtime.status("readyz")).text();
      expect(silent).toBe("env.PHOTOS: the service did not answer within 2 s.\n");
    },
    { timeout: 30_000, interval: 100 },
  );

  proxy.setRule(() => null);
  await vi.waitFor(async () => expect((await runtime.status("readyz")).status).toBe(200), {
    timeout: 30_000,
    interval: 100,
  });
});

it("counts operations, requests and retries, and logs what is rare", async () => {
  const runtime = await serve(made, keys);
  let puts = 0;
  proxy.setRule(({ method, path }) => {
    const isFirst = method === "PUT" && path === "/photos/a" && puts++ === 0;
    return isFirst ? { kind: "error", status: 503, isExecuted: false } : null;
  });
  expect((await runtime.fetch("a", { method: "PUT", body: "text" })).status).toBe(200);
  expect((await runtime.fetch("a")).status).toBe(200);
  proxy.setRule(() => null);

  const answer = await runtime.status("metrics");
  expect(answer.headers.get("content-type")).toMatch(/^application\/openmetrics-text;/);
  const text = await answer.text();
  const lines = text.split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      'ledge_store_operations_total{binding="PHOTOS",operation="put",outcome="ok"} 1',
      'ledge_store_operation_duration_seconds_count{binding="PHOTOS",operation="put"} 1',
      'ledge_store_requests_total{binding="PHOTOS",request="PutObject",status="503"} 1',
      'ledge_store_requests_total{binding="PHOTOS",request="PutObject",status="200"} 1',
      'ledge_store_retries_total{binding="PHOTOS",request="PutObject"} 1',
    ]),
  );
  const events = eventsOf(runtime.output());
  expect(events).toEqual([
    {
      event: "retry",
      name: "PutObject",
      key: "a",
      status: 503,
      attempt: 1,
      message: expect.stringContaining("asks for fewer requests, with status 503") as string,
      binding: "PHOTOS",
    },
  ]);
});

it("logs each request, if the environment asks for it, and no keys of the service", async () => {
  const runtime = await serve(made, { ...keys, LEDGE_LOG: "requests" });
  expect((await runtime.fetch("b", { method: "PUT", body: "text" })).status).toBe(200);
  const sent = eventsOf(runtime.output()).filter(({ name }) => name === "PutObject");
  expect(sent).toEqual([
    {
      event: "request",
      name: "PutObject",
      key: "b",
      status: 200,
      requestId: expect.any(String) as string,
      milliseconds: expect.any(Number) as number,
      binding: "PHOTOS",
    },
  ]);
  for (const key of Object.values(keys)) expect(runtime.output()).not.toContain(key);
});

it("leaves the names of modules in the script's stack traces", async () => {
  const runtime = await serve(made, keys);
  const trace = await (await runtime.fetch("trace")).text();
  expect(trace).toMatch(/^Error: of the script\n {4}at .*\bindex\.js:\d+:\d+\)?$/);
});

it("is left out by --status-port 0", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const without = await build(project("plain", folder), "--no-probe", "--status-port", "0");
  expect(without.files).not.toContain("ledge/status.js");
  const runtime = await serve(without, keys);
  expect((await runtime.fetch("a", { method: "PUT", body: "text" })).status).toBe(200);
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of the log that are objects of JSON. */
function eventsOf(output: string): Record<string, unknown>[] {
  return output
    .split("\n")
    .filter((line) => line.includes('"message":"{'))
    .map((line) => JSON.parse((JSON.parse(line) as { message: string }).message) as never);
}
