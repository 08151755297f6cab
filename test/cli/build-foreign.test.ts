/**
 * A runtime of `ledge build` whose service gives answers of another server, or is another than the build expects: nothing
 * is acknowledged that is not stored, every request ends, and an error has its fields.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { build, clusterProject, serve, type EdgeBuild } from "../support/edge-runtime.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { foreignFailures, foreignSuccesses } from "../support/foreign-answers.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";

const script = `
export default {
  async fetch(request, { PHOTOS }) {
    const key = new URL(request.url).pathname.slice(1);
    try {
      if (request.method === "PUT") return Response.json((await PHOTOS.put(key, await request.text())).size);
      if (request.method === "DELETE") return Response.json((await PHOTOS.delete(key)) ?? null);
      const object = await PHOTOS.get(key);
      return Response.json(object === null ? null : await object.text());
    } catch ({ message, outcome, reason }) {
      return Response.json({ message, outcome, reason }, { status: 500 });
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
  const bounds = { answer_timeout: 2, idle_timeout: 1, call_timeout: 5 };
  const files = {
    "index.js": script,
    ".dev.vars": Object.entries(keys)
      .map((pair) => pair.join("="))
      .join("\n"),
  };
  const cluster = { endpoint: proxy.endpoint, ...bounds };
  made = await build(clusterProject(join(folder, "project"), cluster, files));
  return async () => {
    await proxy.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

const foreign = Object.entries({ ...foreignSuccesses, ...foreignFailures });

it.each(foreign)("acknowledges nothing that is answered with %s", async (name, answer) => {
  const runtime = await serve(made, keys);
  // The runtime asks which service it is before its first write.
  expect((await runtime.fetch("first", { method: "PUT", body: "x" })).status).toBe(200);
  expect((await runtime.fetch("kept", { method: "PUT", body: "kept" })).status).toBe(200);
  proxy.setRule(() => ({ kind: "foreign answer", answer, isExecuted: false }));
  // 204 is what a service says about a delete, and a page with a tag cannot be told from an object.
  const methods = ["PUT", ...(name === "204" ? [] : ["DELETE"])];
  if (name !== "200 with another entity tag") methods.push("GET");
  const answers = await Promise.all(
    methods.map(async (method) => {
      const body = method === "PUT" ? "new" : undefined;
      const response = await runtime.fetch("kept", { method, body });
      const { outcome, reason } = (await response.json()) as Record<string, unknown>;
      return { method, status: response.status, outcome, reason };
    }),
  );
  proxy.setRule(() => null);
  const fields = {
    status: 500,
    outcome: expect.stringMatching(/^(?:unknown|not executed)$/) as string,
    reason: expect.stringMatching(/^[a-z]+$/) as string,
  };
  expect(answers).toEqual(methods.map((method) => ({ method, ...fields })));
  expect(await (await runtime.fetch("kept")).json()).toBe("kept");
});

it("ends a request whose service never answers", async () => {
  const runtime = await serve(made, keys);
  // The first write of a runtime asks the service what it can do.
  expect((await runtime.fetch("stalled", { method: "PUT", body: "old" })).status).toBe(200);
  proxy.setRule(() => ({ kind: "stall", isExecuted: false }));
  for (const [method, outcome] of [
    ["GET", "not executed"],
    ["PUT", "unknown"],
  ] as const) {
    const body = method === "PUT" ? "new" : undefined;
    const response = await runtime.fetch("stalled", { method, body });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ outcome, reason: "timeout" });
  }
  proxy.setRule(() => null);
});
