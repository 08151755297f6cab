/** A project with a binding of each kind of state, a script that writes and reads all of them, and its dev server. */
import { onTestFinished } from "vitest";
import { startDev } from "../../dist/index.js";
import { createProject } from "./dev-process.ts";

const script = `
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  put(key, value) { return this.ctx.storage.put(key, value); }
  sql(text) { return this.ctx.storage.sql.exec(text).toArray(); }
  setAlarm(time) { return this.ctx.storage.setAlarm(time); }
  alarm() {}
  async all() { return [[...(await this.ctx.storage.list())], await this.ctx.storage.getAlarm()]; }
}

const cached = (path) => "http://cached.example/" + path;

const steps = {
  bucket: (env, key, value, options) => env.PHOTOS.put(key, value, options),
  bucketDelete: (env, key) => env.PHOTOS.delete(key),
  kv: (env, key, value, options) => env.KV.put(key, value, options),
  kvDelete: (env, key) => env.KV.delete(key),
  d1: (env, sql) => env.DB.exec(sql),
  r2: (env, key, value, options) => env.R2.put(key, value, options),
  cache: (env, path, text) =>
    caches.default.put(cached(path), new Response(text, { headers: { "cache-control": "max-age=1000" } })),
  object: (env, name, method, ...values) => env.COUNTERS.getByName(name)[method](...values),
  async read(env) {
    const texts = async (bucket) => {
      const { objects } = await bucket.list();
      const read = async (key) => (await (await bucket.get(key)).text()).slice(-20);
      return Promise.all(objects.map(async ({ key, size }) => [key, size, await read(key)]));
    };
    const { keys } = await env.KV.list();
    const tables = await env.DB.prepare("SELECT name FROM sqlite_schema WHERE name = 'users'").all();
    return {
      bucket: await texts(env.PHOTOS),
      kv: await Promise.all(keys.map(async ({ name }) => [name, await env.KV.get(name)])),
      d1: tables.results.length === 0 ? [] : (await env.DB.prepare("SELECT * FROM users").all()).results,
      r2: await texts(env.R2),
      cache: (await (await caches.default.match(cached("page")))?.text()) ?? null,
      object: await env.COUNTERS.getByName("lobby").all(),
    };
  },
};

export default {
  async fetch(request, env) {
    const results = [];
    for (const [name, ...values] of await request.json()) results.push(await steps[name](env, ...values));
    return Response.json(results.at(-1) ?? null);
  },
};
`;

const configuration = {
  name: "everything",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  kv_namespaces: [{ binding: "KV", id: "0f2ac74b498b48028cb68387c421e279" }],
  d1_databases: [{ binding: "DB", database_id: "e1-d2", database_name: "shop" }],
  r2_buckets: [{ binding: "R2", bucket_name: "files" }],
  durable_objects: { bindings: [{ name: "COUNTERS", class_name: "Counter" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
  dns: { zones: [{ name: "example.com" }] },
};

export function createStateProject(): string {
  return createProject({ "wrangler.json": configuration, "index.js": script });
}

/** A step of the script above: its name and its values. */
export type Step = readonly [name: string, ...values: unknown[]];

export interface StateDev {
  /** Runs steps one after the other, and returns the result of the last. */
  run(...steps: readonly Step[]): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startStateDev(
  folder: string,
  options: { readonly persistTo?: string } = {},
): Promise<StateDev> {
  const dev = await startDev({
    folder,
    ...options,
    port: 0,
    dnsPort: 0,
    dnsApiPort: 0,
    explorerPort: 0,
    s3: false,
    log: () => {},
    logLevel: "none",
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= dev.stop());
  onTestFinished(stop);
  await dev.ready;
  return { run: (...steps) => runSteps(dev.url, steps), stop };
}

export async function runSteps(url: string, steps: readonly Step[]): Promise<unknown> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(steps) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text);
}

/** A value of each kind. The first object of the bucket is in a file. */
export const firstSteps: readonly Step[] = [
  ["bucket", "large", "l".repeat(200_000)],
  ["bucket", "small", "s"],
  ["kv", "a", "1"],
  ["kv", "b", "2", { metadata: { from: "seed" } }],
  ["d1", "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)"],
  ["d1", "INSERT INTO users VALUES (1, 'ada'), (2, 'bob')"],
  ["r2", "r", "r"],
  ["cache", "page", "cached"],
  ["object", "lobby", "put", "n", 1],
];
