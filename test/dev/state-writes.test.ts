/**
 * Writers write while the dev server restores a state. Each write that was acknowledged is in the state that the restore
 * has saved, or, if it came after the restore, in what is there now: none is in neither.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDev } from "../../dist/index.js";
import { readState } from "../../src/saved/readable-state.ts";
import { SavedStates } from "../../src/saved/saved-states.ts";
import { suiteProject } from "../edge/support/dev-edge.ts";
import { isLong } from "../faults/support/seed.ts";

/** `/write?id=` and each message of `/socket` write an id into a binding. The socket answers with the id. */
const script = `
import { DurableObject } from "cloudflare:workers";
async function write(env, storage, id) {
  switch (id % 4) {
    case 0: await env.PHOTOS.put(String(id), "x"); break;
    case 1: await env.KV.put(String(id), "x"); break;
    case 2: await env.DB.prepare("INSERT INTO ids VALUES (?)").bind(id).run(); break;
    default: await storage.put(id);
  }
}
export class Ids extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS ids (id INTEGER)");
  }
  put(id) { this.ctx.storage.sql.exec("INSERT INTO ids VALUES (?)", id); }
  fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    server.addEventListener("message", async ({ data }) => {
      await write(this.env, this, Number(data));
      server.send(data);
    });
    return new Response(null, { status: 101, webSocket: client });
  }
}
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const object = env.IDS.getByName("one");
    switch (pathname) {
      case "/begin": await env.DB.exec("CREATE TABLE IF NOT EXISTS ids (id INTEGER)"); break;
      case "/socket": return object.fetch(request);
      case "/write": await write(env, object, Number(searchParams.get("id")));
    }
    return new Response("done");
  },
};`;

const configuration = {
  name: "project",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  kv_namespaces: [{ binding: "KV", id: "kv" }],
  d1_databases: [{ binding: "DB", database_name: "db", database_id: "db" }],
  durable_objects: { bindings: [{ name: "IDS", class_name: "Ids" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Ids"] }],
};

/** The ids in all databases of a saved state. */
function idsOf(states: SavedStates, name: string): Set<number> {
  const queries = {
    ids: "SELECT id",
    _mf_entries: "SELECT key AS id",
    objects: "SELECT key AS id",
  };
  const state = readState(states.find(name));
  try {
    const ids = state.databases.flatMap((path) => {
      const database = state.openDatabase(path);
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      return Object.entries(queries)
        .filter(([table]) => tables.some(({ name: found }) => found === table))
        .flatMap(([table, query]) => database.prepare(`${query} FROM ${table}`).all());
    });
    return new Set(ids.map(({ id }) => Number(id)));
  } finally {
    state.close();
  }
}

let lastId = 0;

/** @returns the ids that were acknowledged until `isStopped` */
async function writeRequests(url: string, isStopped: () => boolean): Promise<number[]> {
  const acknowledged: number[] = [];
  while (!isStopped()) {
    const id = ++lastId;
    const response = await fetch(`${url}/write?id=${id}`).catch(() => null);
    if ((await response?.text().catch(() => null)) === "done") acknowledged.push(id);
  }
  return acknowledged;
}

/** The same by messages of a WebSocket, which is opened again when it has ended. */
async function writeMessages(url: string, isStopped: () => boolean): Promise<number[]> {
  const acknowledged: number[] = [];
  while (!isStopped()) {
    const socket = new WebSocket(`${url.replace("http", "ws")}/socket`);
    const send = (): void => (isStopped() ? socket.close() : socket.send(String(++lastId)));
    socket.addEventListener("open", () => messagesAtOnce.forEach(send));
    socket.addEventListener("message", ({ data }) => {
      acknowledged.push(Number(data));
      send();
    });
    await new Promise((resolve) => {
      socket.addEventListener("close", resolve);
      socket.addEventListener("error", resolve);
    });
  }
  return acknowledged;
}

const messagesAtOnce = [1, 2, 3, 4];
const writesMin = isLong ? 2000 : 200;
const ways = [
  { name: "two servers", servers: 2, requests: 8, sockets: 0 },
  { name: "one server with open WebSockets", servers: 1, requests: 1, sockets: 8 },
];

test.each(ways)(
  "a restore by $name loses no acknowledged write",
  async (way) => {
    const folder = suiteProject({ "wrangler.json": configuration, "index.js": script });
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const states = new SavedStates(join(folder, ".wrangler/state"));
    const devs: Awaited<ReturnType<typeof startDev>>[] = [];
    while (devs.length < way.servers) {
      const options = { port: 0, explorerPort: 0, s3: false, dns: false, log() {} } as const;
      const dev = await startDev({ folder, ...options, logLevel: "none" });
      onTestFinished(() => dev.stop());
      await dev.ready;
      devs.push(dev);
    }
    const [{ url, state }] = devs as [(typeof devs)[0]];
    await fetch(`${url}/begin`);
    await state.save("clean");
    const missing: number[] = [];
    const figures = { acknowledged: 0, undone: 0, restores: 0, restarts: 0 };
    while (figures.acknowledged < writesMin || figures.restores < 3) {
      let isStopped = false;
      const first = lastId;
      const writers = devs.flatMap((dev) => [
        ...Array.from({ length: way.requests }, () => writeRequests(dev.url, () => isStopped)),
        ...Array.from({ length: way.sockets }, () => writeMessages(dev.url, () => isStopped)),
      ]);
      await expect.poll(() => lastId).toBeGreaterThan(first + 60);
      const { undo, isRestarted } = await state.restore("clean");
      isStopped = true;
      const acknowledged = (await Promise.all(writers)).flat();
      await state.save("now", { replace: true });
      const [undone, now] = [undo as string, "now"].map((name) => idsOf(states, name));
      missing.push(...acknowledged.filter((id) => !undone?.has(id) && !now?.has(id)));
      figures.acknowledged += acknowledged.length;
      figures.undone += acknowledged.filter((id) => undone?.has(id)).length;
      figures.restores++;
      figures.restarts += Number(isRestarted);
    }
    console.log(way.name, { ...figures, missing: missing.length });
    expect(missing).toEqual([]);
  },
  1_200_000,
);
