/** `ledge dev` and `wrangler dev` as a user starts them, each with a script and a bucket. */
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findFreePort } from "../../src/base/ports.ts";
import { spawnServer } from "../dev/dev-server.ts";

export interface DevServer {
  readonly processId: number;
  readonly port: number;
  stop(): Promise<void>;
}

export const scriptHost = "photos.example.com";
export const bucketHost = "cdn.example.com";
export const bucketName = "cdn";

const kinds = {
  ledge: {
    program: "dist/cli.js",
    options: ["--dns-port", "0", "--dns-api-port", "0"],
    config: {
      routes: [`${scriptHost}/*`],
      store_buckets: [
        { binding: "CDN", bucket_name: bucketName, public: true, domains: [bucketHost] },
      ],
      dns: { zones: [{ name: "example.com" }] },
    },
  },
  wrangler: {
    program: "node_modules/wrangler/bin/wrangler.js",
    options: ["--inspector-port", "0"],
    config: { r2_buckets: [{ binding: "CDN", bucket_name: bucketName }] },
  },
};

/** A PUT stores an object under its path; a GET is answered without the bucket. */
const script = `export default {
  async fetch(request, env) {
    if (request.method !== "PUT") return new Response("script");
    const key = new URL(request.url).pathname.slice(1);
    await env.CDN.put(key, await request.arrayBuffer());
    return new Response("stored");
  },
};`;

const repository = fileURLToPath(new URL("../../", import.meta.url));
const pollMilliseconds = 100;

export async function startDevServer(kind: keyof typeof kinds): Promise<DevServer> {
  const { program, options, config } = kinds[kind];
  const folder = mkdtempSync(join(tmpdir(), "ledge-bench-edge-"));
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "index.js"), script);
  const common = { name: "bench", main: "index.js", compatibility_date: "2026-08-01" };
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify({ ...common, ...config }));
  const port = await findFreePort(0, "127.0.0.1");
  const words = [join(repository, program), "dev", "--port", String(port), ...options];
  const child = spawnServer(folder, words);
  const isReady = async (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/`).then(
      async (response) => (await response.text()) === "script",
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${words.join(" ")} has ended.`);
    await delay(pollMilliseconds);
  }
  return {
    processId: child.pid as number,
    port,
    async stop() {
      if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
