/** Restore and reset inside a running dev server, with all kinds of bindings. */
import { once } from "node:events";
import { readdirSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startDev } from "../../dist/index.js";
import { suiteProject } from "../edge/support/dev-edge.ts";
import { readProcesses } from "../support/processes.ts";

const script = `
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  inMemory = 0;
  async add() {
    this.inMemory++;
    const stored = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", stored);
    return { inMemory: this.inMemory, stored };
  }
  async read() {
    return {
      inMemory: this.inMemory,
      stored: (await this.ctx.storage.get("count")) ?? 0,
      alarms: (await this.ctx.storage.get("alarms")) ?? 0,
    };
  }
  remember() { this.inMemory++; }
  fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    return new Response(null, { status: 101, webSocket: client });
  }
  setAlarm(milliseconds) { return this.ctx.storage.setAlarm(Date.now() + milliseconds); }
  async alarm() {
    await this.ctx.storage.put("alarms", ((await this.ctx.storage.get("alarms")) ?? 0) + 1);
  }
}

const large = (text) => text.repeat(300_000);
const brief = (text) => text === null ? null : text.length > 100 ? text.slice(0, 8) + "… " + text.length : text;
const text = async (object) => object === null || object === undefined ? null : brief(await object.text());
const cached = "http://cache.example/entry";
let slow = 0;

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const value = searchParams.get("value");
    const milliseconds = Number(searchParams.get("ms"));
    const counter = env.COUNTERS.getByName(searchParams.get("name") ?? "one");
    switch (pathname) {
      case "/write":
        await env.DB.exec("CREATE TABLE IF NOT EXISTS notes (text TEXT)");
        await Promise.all([
          env.PHOTOS.put("small", value),
          env.PHOTOS.put("large", large(value)),
          env.KV.put("key", value),
          env.DB.prepare("INSERT INTO notes VALUES (?)").bind(value).run(),
          env.FILES.put("file", value),
          caches.default.put(cached, new Response(value, { headers: { "cache-control": "max-age=3600" } })),
          counter.add(),
          env.DNS.fetch("http://dns/client/v4/zones").then(async (response) => {
            const [{ id }] = (await response.json()).result;
            const record = { type: "TXT", name: value, content: '"' + value + '"', ttl: 60 };
            const body = JSON.stringify(record);
            const added = await env.DNS.fetch("http://dns/client/v4/zones/" + id + "/dns_records", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body,
            });
            if (!added.ok) throw new Error(await added.text());
          }),
        ]);
        return new Response("written");
      case "/three":
        await env.PHOTOS.put("small", value);
        await env.KV.put("key", value);
        await env.DB.prepare("INSERT INTO notes VALUES (?)").bind(value).run();
        return new Response("written");
      case "/fill":
        await env.DB.exec("CREATE TABLE IF NOT EXISTS filling (bytes BLOB)");
        for (let count = 0; count < Number(searchParams.get("mib")); count++) {
          await env.DB.prepare("INSERT INTO filling VALUES (randomblob(1048576))").run();
        }
        return new Response("filled");
      case "/late":
        ctx.waitUntil((async () => {
          await scheduler.wait(milliseconds);
          await Promise.all([env.KV.put("key", value), env.PHOTOS.put("small", value)]);
        })());
        return new Response("soon");
      case "/socket":
        return counter.fetch(request);
      case "/slow":
        slow++;
        await scheduler.wait(milliseconds);
        return new Response("slow");
      case "/slow-requests":
        return Response.json(slow);
      case "/count":
        return Response.json(await counter.read());
      case "/add":
        return Response.json(await counter.add());
      case "/alarm":
        await counter.setAlarm(milliseconds);
        return new Response("set");
      case "/remember":
        await counter.remember();
        return new Response("remembered");
      case "/rows":
        return Response.json(await env.DB.prepare("SELECT count(*) AS rows FROM filling").first("rows"));
      case "/key":
        return new Response(await env.KV.get("key"));
      default: {
        const notes = await env.DB.prepare("SELECT text FROM notes ORDER BY rowid").all().catch(() => null);
        const zones = (await (await env.DNS.fetch("http://dns/client/v4/zones")).json()).result;
        const records = await (await env.DNS.fetch("http://dns/client/v4/zones/" + zones[0].id + "/dns_records?type=TXT")).json();
        return Response.json({
          small: await text(await env.PHOTOS.get("small")),
          large: await text(await env.PHOTOS.get("large")),
          kv: await env.KV.get("key"),
          notes: notes?.results.map(({ text }) => text) ?? null,
          file: await text(await env.FILES.get("file")),
          cached: await text(await caches.default.match(cached)),
          count: (await counter.read()).stored,
          records: records.result.map(({ name }) => name),
        });
      }
    }
  },
};`;

const configuration = {
  name: "project",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  kv_namespaces: [{ binding: "KV", id: "kv" }],
  d1_databases: [{ binding: "DB", database_name: "db", database_id: "db" }],
  r2_buckets: [{ binding: "FILES", bucket_name: "files" }],
  durable_objects: { bindings: [{ name: "COUNTERS", class_name: "Counter" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
  dns: { binding: "DNS", zones: [{ name: "example.org" }] },
};

type Dev = Awaited<ReturnType<typeof startDev>>;

let folder: string;
let dev: Dev;
const lines: string[] = [];

const get = async (path: string): Promise<string> => (await fetch(dev.url + path)).text();
const json = async (path: string): Promise<unknown> => JSON.parse(await get(path)) as unknown;
const log = (line: string): void => void lines.push(line);

beforeAll(async () => {
  folder = suiteProject({ "wrangler.json": configuration, "index.js": script });
  const ports = { port: 0, dnsPort: 0, dnsApiPort: 0, explorerPort: 0, s3: false };
  dev = await startDev({ folder, ...ports, log, logLevel: "error" });
  await dev.ready;
});

afterAll(async () => {
  await dev?.stop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => void (lines.length = 0));

const empty = {
  small: null,
  large: null,
  kv: null,
  notes: null,
  file: null,
  cached: null,
  count: 0,
  records: [],
};
const inPlace = { name: "a", undo: null, ended: [], isRestarted: false };
/** `LEDGE_RESETS=200` looks longer for a write that leaks. */
const roundsMax = Number(process.env["LEDGE_RESETS"] ?? 20);

const ofA = {
  small: "a",
  large: `${"a".repeat(8)}… 300000`,
  kv: "a",
  notes: ["a"],
  file: "a",
  cached: "a",
  count: 1,
  records: ["a.example.org"],
};

describe("DevState", () => {
  it("restores every kind of binding, and can be undone", async () => {
    expect(await json("/")).toEqual(empty);
    await get("/write?value=a");
    expect(await json("/")).toEqual(ofA);
    await dev.state.save("a");
    await get("/write?value=b");
    const ofB = await json("/");
    expect(ofB).toMatchObject({ small: "b", notes: ["a", "b"], count: 2, cached: "b" });

    const restored = await dev.state.restore("a");
    expect(restored).toMatchObject({ name: "a", ended: [], isRestarted: false });
    expect(await json("/")).toEqual(ofA);
    expect(lines.join("\n")).toMatch(
      /^Restored "a" in \d+ ms\. What was there before is saved as "/m,
    );

    await dev.state.restore(restored.undo as string);
    expect(await json("/")).toEqual(ofB);
    await dev.state.restore("a");
  });

  it("resets to the state that was saved or restored last", async () => {
    for (let round = 0; round < 3; round++) {
      await get("/write?value=b");
      expect(await dev.state.reset()).toEqual(inPlace);
      expect(await json("/")).toEqual(ofA);
    }
    expect(lines.at(-1)).toMatch(/^Reset to "a" in \d+ ms\.$/);
  });

  it("ends nothing when nothing has changed", async () => {
    await dev.state.reset();
    expect(await get("/key")).toBe("a");
    const index = join(folder, ".wrangler/state/v3/kv/miniflare-KVNamespaceObject");
    const indexes = () => readdirSync(index).filter((name) => /^[0-9a-f]+\.sqlite-shm$/.test(name));
    const inode = () => indexes().map((name) => statSync(join(index, name)).ino);
    const before = inode();
    expect(before).toHaveLength(1);
    expect(await dev.state.reset()).toEqual(inPlace);
    expect(inode()).toEqual(before);
  });

  it("ends the memory of Durable Objects, also when nothing is stored", async () => {
    expect(await json("/add")).toEqual({ inMemory: 1, stored: 2 });
    await dev.state.reset();
    expect(await json("/add")).toEqual({ inMemory: 1, stored: 2 });
    await dev.state.reset();
    await get("/remember");
    expect(await json("/count")).toMatchObject({ inMemory: 1, stored: 1 });
    await dev.state.reset();
    expect(await json("/count")).toMatchObject({ inMemory: 0, stored: 1 });
  });

  it("waits for work after the response", async () => {
    for (let round = 0; round < roundsMax; round++) {
      const milliseconds = Math.round(Math.random() * 40);
      await get(`/late?value=late&ms=${milliseconds}`);
      expect(await dev.state.reset()).toEqual(inPlace);
      expect(await json("/"), `round ${round}, ${milliseconds} ms`).toEqual(ofA);
    }
  });

  it("answers requests that come during a reset from the restored state", async () => {
    for (let round = 0; round < 5; round++) {
      await get("/three?value=b");
      const end = new AbortController();
      const isReset = dev.state.reset().finally(() => end.abort());
      const answers = Array.from({ length: 5 }, async () => {
        const values: string[] = [];
        while (!end.signal.aborted) values.push(await get("/key"));
        return [...values, await get("/key")].join("");
      });
      expect(await isReset).toEqual(inPlace);
      // The first come before the edge knows of the reset.
      for (const values of await Promise.all(answers)) expect(values).toMatch(/^b*a+$/);
    }
  });

  it("ends a request that does not end, and names it", async () => {
    await get("/three?value=b");
    const slow = fetch(`${dev.url}/slow?ms=60000`).catch(() => null);
    await expect.poll(() => json("/slow-requests")).toBe(1);
    const restored = await dev.state.reset();
    expect(restored).toMatchObject({ name: "a", isRestarted: true });
    expect(restored.ended).toEqual([
      expect.stringMatching(/^GET \/slow\?ms=60000, which ran for \d\S* s$/),
    ]);
    expect(lines.at(-1)).toMatch(/^Reset to "a" in \S+ s\. Ended GET \/slow/);
    await slow;
    expect(await json("/")).toEqual(ofA);
  });

  it("ends a WebSocket of a Durable Object at once", async () => {
    const socket = new WebSocket(`${dev.url.replace("http", "ws")}/socket`);
    await once(socket, "open");
    const isClosed = once(socket, "close");
    expect(await dev.state.reset()).toEqual({
      ...inPlace,
      ended: [expect.stringMatching(/^GET \/socket, which ran for /)],
    });
    await isClosed;
  });

  it("runs an alarm that was set in the saved state", async () => {
    await get("/alarm?ms=1500");
    await dev.state.save("alarm");
    await expect.poll(() => json("/count")).toMatchObject({ alarms: 1 });
    await dev.state.reset();
    await expect.poll(() => json("/count")).toMatchObject({ alarms: 1 });
    await dev.state.restore("a");
    expect(await json("/")).toEqual(ofA);
  });

  it("leaves out an alarm that was set later", async () => {
    await get("/alarm?ms=2000");
    expect(await dev.state.reset()).toEqual(inPlace);
    // An alarm that is due later has run.
    await get("/alarm?name=later&ms=2000");
    await expect.poll(() => json("/count?name=later")).toMatchObject({ alarms: 1 });
    expect(await json("/count")).toMatchObject({ alarms: 0 });
    await dev.state.restore("a");
  });

  it("restores a large database whose log was moved", async () => {
    await get("/fill?mib=12");
    await dev.state.save("large");
    await get("/fill?mib=12");
    await get("/three?value=b");
    await dev.state.restore("large");
    const filled = await json("/");
    expect(filled).toMatchObject({ notes: ["a"], kv: "a" });
    expect(await json("/rows")).toEqual(12);
    await dev.state.restore("a");
    expect(await json("/")).toEqual(ofA);
  });

  it("leads to the state also when the runtime is killed meanwhile", async () => {
    for (let round = 0; round < 4; round++) {
      await get("/three?value=b");
      const isReset = dev.state.reset();
      await delay(Math.random() * 60);
      killRuntime();
      await isReset;
      await expect.poll(() => json("/").catch(() => null)).toEqual(ofA);
    }
  });

  it("ends the runtime of another dev server on the folder, which starts another", async () => {
    await get("/three?value=b");
    const options = { port: 0, explorer: false, s3: false, log() {}, logLevel: "none" } as const;
    const second = await startDev({ folder, ...options });
    try {
      await second.ready;
      const { isRestarted } = await second.state.restore("a");
      expect(isRestarted).toBe(true);
      for (const { url } of [dev, second]) {
        await expect.poll(async () => (await fetch(url)).json().catch(() => null)).toEqual(ofA);
      }
    } finally {
      await second.stop();
    }
  });

  it("does one thing after the other", async () => {
    await get("/write?value=b");
    const [saved, reset] = await Promise.all([
      dev.state.save("b"),
      dev.state.restore("a"),
      dev.state.reset(),
    ]);
    expect(saved.name).toBe("b");
    expect(reset.name).toBe("a");
    expect(await json("/")).toEqual(ofA);
    await dev.state.restore("b");
    expect(await json("/")).toMatchObject({ kv: "b", notes: ["a", "b"] });
    await dev.state.delete("b");
    // The base has gone.
    expect(await dev.state.reset()).toMatchObject({ name: null });
    expect(await json("/")).toEqual({ ...empty });
    await dev.state.restore("a");
  });
});

/** Kills the runtime that has the namespace open. */
function killRuntime(): void {
  const kv = join(realpathSync(folder), ".wrangler/state/v3/kv");
  for (const { processId, parentId } of readProcesses()) {
    if (parentId !== process.pid) continue;
    if (openFiles(processId).some((path) => path.startsWith(kv)))
      process.kill(processId, "SIGKILL");
  }
}

function openFiles(processId: number): string[] {
  const fds = `/proc/${processId}/fd`;
  try {
    return readdirSync(fds).map((name) => readlinkSync(join(fds, name)));
  } catch {
    // The process has ended, or has closed a file meanwhile.
    return [];
  }
}
