/** Prometheus reads the metrics of a runtime of `ledge build`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { build, clusterProject, serve } from "../support/edge-runtime.ts";
import { freePort } from "../support/free-port.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";
import { temporaryFolder } from "./support.ts";

const script = `
export default {
  async fetch(request, { PHOTOS }) {
    const key = new URL(request.url).pathname.slice(1);
    const stored = await PHOTOS.put(key, "text", { onlyIf: { etagMatches: "none" } });
    return Response.json([stored, await PHOTOS.put(key, "text"), await PHOTOS.get(key)].length);
  },
};
`;

it("Prometheus has the counters and the histograms of a runtime", async () => {
  const folder = temporaryFolder();
  const server = await startCluster(join(folder, "state"));
  onTestFinished(() => server.close());
  const project = clusterProject(
    join(folder, "project"),
    { endpoint: server.url },
    { "index.js": script },
  );
  const made = await build(project, "--no-probe");
  const runtime = await serve(made, keys);
  for (const key of ["a", "b", "c"]) expect((await runtime.fetch(key)).status).toBe(200);

  const ask = await startPrometheus(`127.0.0.1:${runtime.statusPort}`);
  const [get, put] = ["get", "put"].map((name) => `binding="PHOTOS",operation="${name}"`);
  await vi.waitFor(
    async () => {
      expect(await ask(`ledge_store_operations_total{${get},outcome="ok"}`)).toEqual(["3"]);
    },
    { timeout: 60_000, interval: 200 },
  );
  // One put of each request fails its condition, which is a result.
  expect(await ask(`ledge_store_operations_total{${put},outcome="ok"}`)).toEqual(["6"]);
  expect(await ask(`ledge_store_operation_duration_seconds_count{${put}}`)).toEqual(["6"]);
  expect(
    await ask(`histogram_quantile(1, ledge_store_operation_duration_seconds_bucket{${get}}) < 60`),
  ).toHaveLength(1);
  expect(await ask('ledge_store_requests_total{request="GetObject",status="200"}')).toEqual(["3"]);
  expect(await ask("ledge_store_requests_in_flight")).toEqual(["0"]);
  expect(await ask("up")).toEqual(["1"]);
});

/** @returns a function that asks for the values of an expression */
async function startPrometheus(target: string) {
  const folder = temporaryFolder();
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(folder, "prometheus.yml");
  const job = { job_name: "edge", scrape_interval: "1s", static_configs: [{ targets: [target] }] };
  // YAML contains JSON.
  writeFileSync(config, JSON.stringify({ scrape_configs: [job] }));
  const child = spawn(
    "prometheus",
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${address}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await vi.waitFor(
    async () => expect((await fetch(`http://${address}/-/ready`)).status).toBe(200),
    { timeout: 60_000, interval: 100 },
  );
  return async (expression: string): Promise<string[]> => {
    const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: { value: [number, string] }[] };
    };
    return data.result.map(({ value: [, text] }) => text);
  };
}
