/** A project with a binding of each kind, which `ledge dev` and stock wrangler run. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FaultProcess } from "../../faults/support/fault-process.ts";
import { createProject } from "../../support/dev-process.ts";
import { bucketEntry, plugin } from "../../support/worker.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const ledgeProgram = join(root, "dist/cli.js");
/** The program itself: `wrangler.js` only starts it. */
const wranglerProgram = join(root, "node_modules/wrangler/wrangler-dist/cli.js");

/** `/put?value=` writes the value everywhere, `/get` reads it everywhere. */
const script = `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  put(value) { this.ctx.storage.kv.put("value", value); }
  get() { return this.ctx.storage.kv.get("value"); }
}
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const cached = "http://cache.test/value";
    const counter = env.COUNTER.getByName("one");
    await env.DB.exec("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value TEXT)");
    if (pathname === "/put") {
      const value = searchParams.get("value");
      await env.PHOTOS.put("value", value + " ".repeat(200_000));
      await env.KV.put("value", value);
      await env.DB.prepare("INSERT OR REPLACE INTO t VALUES (1, ?)").bind(value).run();
      await env.R2.put("value", value);
      await caches.default.put(cached, new Response(value, { headers: { "cache-control": "max-age=1000" } }));
      await counter.put(value);
      return new Response("done");
    }
    const read = async (stored) => (await (await stored)?.text())?.trim() ?? null;
    return Response.json({
      bucket: await read(env.PHOTOS.get("value")),
      kv: await env.KV.get("value"),
      d1: (await env.DB.prepare("SELECT value FROM t").first("value")) ?? null,
      r2: await read(env.R2.get("value")),
      cache: await read(caches.default.match(cached)),
      object: (await counter.get()) ?? null,
    });
  },
};
`;

const kinds = ["bucket", "kv", "d1", "r2", "cache", "object"] as const;

/** What `/get` answers. */
export function everywhere(value: string | null): Record<string, string | null> {
  return Object.fromEntries(kinds.map((kind) => [kind, value]));
}

const common = {
  name: "states",
  main: "index.js",
  compatibility_date: "2026-08-01",
  kv_namespaces: [{ binding: "KV", id: "kv" }],
  d1_databases: [{ binding: "DB", database_id: "db", database_name: "db" }],
  r2_buckets: [{ binding: "R2", bucket_name: "uploads" }],
  durable_objects: { bindings: [{ name: "COUNTER", class_name: "Counter" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
};

export class StateProject {
  readonly folder: string;
  readonly stateFolder: string;

  constructor(source = script) {
    const { dev } = bucketEntry({ bucket_name: "photos" });
    this.folder = createProject({
      "index.js": source,
      "wrangler.json": {
        ...common,
        store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      },
      "stock.json": {
        ...common,
        unsafe: { bindings: [{ name: "PHOTOS", type: "store_bucket", dev: { ...dev, plugin } }] },
      },
    });
    this.stateFolder = join(this.folder, ".wrangler/state");
  }

  async ledgeDev(...args: string[]): Promise<StateServer> {
    const ports = [
      "port",
      "s3-port",
      "explorer-port",
      "dns-port",
      "dns-api-port",
      "inspector-port",
    ];
    const words = ports.flatMap((name) => [`--${name}`, "0"]);
    const process = new FaultProcess([ledgeProgram, "dev", ...words, ...args], this);
    const [, url] = await process.waitForOutput(/^Ready +(\S+)$/m);
    return new StateServer(process, url as string);
  }

  async wranglerDev(): Promise<StateServer> {
    const words = ["--config", "stock.json", "--port", "0", "--inspector-port", "0"];
    const process = new FaultProcess([wranglerProgram, "dev", ...words], this);
    const [, url] = await process.waitForOutput(/Ready on (http:\/\/\S+)/);
    return new StateServer(process, url as string);
  }
}

/** A running tool that serves the script. */
export class StateServer {
  readonly process: FaultProcess;
  readonly url: string;

  constructor(process: FaultProcess, url: string) {
    this.process = process;
    this.url = url;
  }

  async put(value: string): Promise<void> {
    const response = await fetch(new URL(`/put?value=${value}`, this.url));
    if (!response.ok) throw new Error(await response.text());
  }

  /** After a restart of the runtime, the first requests can fail. */
  async get(): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await fetch(this.url, { signal: AbortSignal.timeout(20_000) });
        if (response.ok) return await response.json();
      } catch {}
      if (attempt > 200) throw new Error(`No answer from ${this.url}:\n${this.process.output}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
