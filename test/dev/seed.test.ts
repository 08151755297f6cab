/** `ledge dev` with a seed, from a saved state, and with a state that ends with the server. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDev } from "../../dist/index.js";
import { SavedStates } from "../../src/saved/saved-states.ts";
import {
  createProject,
  type DevProcess,
  DevServer,
  ledgeDev,
  write,
} from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { run } from "../support/project.ts";

const configuration = {
  name: "shop",
  main: "index.js",
  compatibility_date: "2026-08-01",
  state: { seed: "./seed" },
  store_buckets: [
    { binding: "PHOTOS", bucket_name: "photos", preview_bucket_name: "photos-local" },
  ],
  r2_buckets: [{ binding: "LOGS", bucket_name: "logs" }],
  d1_databases: [
    { binding: "DB", database_name: "users", database_id: "01", preview_database_id: "02" },
  ],
  kv_namespaces: [{ binding: "SETTINGS", id: "03", preview_id: "04" }, { binding: "PLAIN" }],
  durable_objects: { bindings: [{ name: "OBJECT", class_name: "Counter" }] },
  migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
};

const script = `
  import { DurableObject } from "cloudflare:workers";
  export class Counter extends DurableObject {}
  export default {
    async fetch(request, { PHOTOS, LOGS, DB, SETTINGS, PLAIN }) {
      if (request.method === "PUT") await PHOTOS.put("cat.txt", request.body);
      const texts = async (bucket) => {
        const { objects } = await bucket.list();
        return Object.fromEntries(await Promise.all(
          objects.map(async ({ key }) => [key, (await (await bucket.get(key)).text()).slice(0, 20)])));
      };
      const cat = await PHOTOS.head("cat.txt");
      const rows = async (sql) => (await DB.prepare(sql).raw());
      return Response.json({
        photos: await texts(PHOTOS),
        cat: cat && { ...cat.httpMetadata, ...cat.customMetadata },
        logs: await texts(LOGS),
        users: await rows("SELECT name, count FROM users LEFT JOIN counts").catch(String),
        migrations: await rows("SELECT name FROM d1_migrations").catch(String),
        theme: await SETTINGS.getWithMetadata("theme", "json"),
        plain: await PLAIN.get("a"),
      });
    },
  };`;

/** More than D1 takes in one call. */
const manyRows = Array.from({ length: 2000 }, (_, index) => {
  return `INSERT INTO users VALUES ('user ${index} ${";".repeat(50)}');`;
});

const files = {
  "wrangler.json": configuration,
  "index.js": script,
  "migrations/0001_users.sql": "CREATE TABLE users (name TEXT);\nCREATE TABLE counts (count);",
  "migrations/0002_trigger.sql":
    "CREATE TRIGGER counted AFTER DELETE ON users BEGIN DELETE FROM counts; INSERT INTO counts SELECT count(*) FROM users; END;",
  "seed/d1/DB.sql": `BEGIN TRANSACTION;\n${manyRows.join("\n")}\nDELETE FROM users; COMMIT;`,
  "seed/d1/users/1.sql":
    "INSERT INTO users VALUES ('Ada') -- ;\n; UPDATE counts SET count = 0; -- the end",
  "seed/kv/SETTINGS.json": {
    theme: { value: { dark: true }, metadata: { by: "Ada" }, expirationTtl: 3600 },
  },
  "seed/kv/PLAIN.json": [{ key: "a", value: "Yg==", base64: true }],
  "seed/buckets/PHOTOS/cat.txt": "meow",
  "seed/buckets/PHOTOS/large.bin": "x".repeat(300_000),
  "seed/buckets/PHOTOS.json": {
    "cat.txt": { httpMetadata: { cacheControl: "no-store" }, customMetadata: { by: "Ada" } },
  },
  "seed/buckets/logs/a.txt": "log",
  "seed/zones/example.com.zone": "$TTL 300\nwww A 192.0.2.1\n",
};

const seeded = {
  photos: { "cat.txt": "meow", "large.bin": "x".repeat(20) },
  cat: { contentType: "text/plain", cacheControl: "no-store", by: "Ada" },
  logs: { "a.txt": "log" },
  users: [["Ada", 0]],
  migrations: [["0001_users.sql"], ["0002_trigger.sql"]],
  theme: { value: { dark: true }, metadata: { by: "Ada" }, cacheStatus: null },
  plain: "b",
};

/** A project with buckets alone, whose seed is made in a moment. */
const small = {
  "wrangler.json": {
    name: "small",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    state: { seed: "./seed" },
  },
  "index.js": `
    export default {
      async fetch(request, { PHOTOS }) {
        if (request.method === "PUT") await PHOTOS.put("cat.txt", request.body);
        const cat = await PHOTOS.get("cat.txt");
        return new Response(cat && cat.body);
      },
    };`,
  "seed/buckets/photos/cat.txt": "meow",
};

type Dev = DevServer | DevProcess;
const textOf = async (dev: Dev): Promise<string> => (await fetch(await dev.url())).text();
const put = async (dev: Dev, body: string) => fetch(await dev.url(), { method: "PUT", body });
const savedFolder = (folder: string) => join(folder, ".wrangler/state/saved");
const seedsOf = (folder: string): string[] =>
  readdirSync(savedFolder(folder)).filter((name) => name.startsWith("seed-"));
const keyOf = async (dev: Dev) => (await dev.waitForOutput(/key id +(\S+)/))[1];
const stateOf = async (dev: DevProcess): Promise<string> =>
  (await dev.waitForOutput(/^State +(\S+)/m))[1] as string;

describe("ledge dev", () => {
  it("fills an empty state from the seed: objects, rows, values and zones", async () => {
    const folder = createProject(files);
    const dev = ledgeDev(folder);
    const url = await dev.url();
    expect(await (await fetch(url)).json()).toEqual(seeded);
    expect(dev.output).toContain("State      .wrangler/state (from seed)\n");
    expect(dev.output).toContain("  zones    example.com\n");
    const zone = await runInProcess(folder, ["dns", "list", "example.com", "--json"]);
    expect(zone.error).toBe("");
    expect(zone.out).toContain('"content":"192.0.2.1"');
    expect(await dev.end()).toBe(0);
    // wrangler finds the migrations applied.
    const migrations = ["d1", "migrations", "list", "DB", "--local"];
    expect((await run(folder, "wrangler", ...migrations)).out).toContain("No migrations to apply");
  });

  it("keeps a state that exists, and makes the state of a seed once", async () => {
    const folder = createProject(small);
    const first = await DevServer.start(folder, { dns: false });
    await put(first, "purr");
    await first.end();
    const [name = ""] = seedsOf(folder);
    const states = new SavedStates(join(folder, ".wrangler/state"));
    const { savedAt } = states.find(name);

    const second = await DevServer.start(folder, { dns: false });
    expect(await textOf(second)).toBe("purr");
    expect(second.output).toMatch(/^State +\S+\.wrangler\/state$/m);
    await second.end();

    const reset = await runInProcess(folder, ["state", "reset"]);
    expect(reset).toMatchObject({ code: 0, out: expect.stringContaining(name) as string });
    const third = await DevServer.start(folder, { dns: false });
    expect(await textOf(third)).toBe("meow");
    await third.end();
    expect(seedsOf(folder)).toEqual([name]);
    expect(states.find(name).savedAt).toBe(savedAt);
  });

  it("starts from another seed with --seed, and saves what was there", async () => {
    const folder = createProject({ ...small, "other/buckets/photos/cat.txt": "hiss" });
    const first = await DevServer.start(folder, { dns: false });
    await put(first, "purr");
    await first.end();
    const old = seedsOf(folder);

    const second = await DevServer.start(folder, { dns: false, seed: join(folder, "other") });
    expect(await textOf(second)).toBe("hiss");
    const [, undo = ""] = await second.waitForOutput(/"ledge state restore (\S+)" restores it/);
    await second.end();
    expect(seedsOf(folder)).toHaveLength(1);
    expect(seedsOf(folder)).not.toEqual(old);

    const third = await DevServer.start(folder, { dns: false, from: undo });
    expect(await textOf(third)).toBe("purr");
    expect(third.output).toContain(`.wrangler/state (from ${undo})\n`);
  });

  it("starts from a saved state with --from, and names the states that there are", async () => {
    const folder = createProject({ ...small, "seed/buckets/photos/cat.txt": "meow" });
    const first = await DevServer.start(folder, { dns: false });
    await put(first, "purr");
    await new SavedStates(join(folder, ".wrangler/state")).save("checkout");
    await put(first, "hiss");
    await first.end();
    const { code, error } = await run(folder, "ledge", "dev", "--from", "chekout");
    expect(code).toBe(3);
    expect(error).toMatch(/^There is no saved state "chekout"\. Saved are "checkout", "seed-/);

    const second = await DevServer.start(folder, { dns: false, from: "checkout", ephemeral: true });
    expect(await textOf(second)).toBe("purr");
    expect(second.output).toContain("(from checkout, temporary)");
    await second.end();
    const third = await DevServer.start(folder, { dns: false });
    expect(await textOf(third)).toBe("hiss");
  });

  it("keeps an ephemeral state until its end, whatever ends it", async () => {
    const folder = createProject(small);
    const project = await DevServer.start(folder);
    await put(project, "purr");
    await project.end();

    const folders: string[] = [];
    for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
      const dev = ledgeDev(folder, "--ephemeral");
      expect(await textOf(dev)).toBe("meow");
      await put(dev, "hiss");
      expect(await keyOf(dev)).toBe(await keyOf(project));
      const state = await stateOf(dev);
      expect(existsSync(join(state, "v3/store"))).toBe(true);
      folders.push(state);
      process.kill(dev.pid, signal);
      await dev.exited;
      expect(existsSync(state)).toBe(signal === "SIGKILL");
    }
    const later = await DevServer.start(folder, { ephemeral: true });
    expect(await textOf(later)).toBe("meow");
    expect(folders.filter(existsSync)).toEqual([]);
    await later.end();
    const again = await DevServer.start(folder);
    expect(await textOf(again)).toBe("purr");
  });

  it.each([false, true])("resets to the seed as it is now, ephemeral: %j", async (ephemeral) => {
    const folder = createProject(small);
    const ports = { port: 0, s3Port: 0, explorer: true, explorerPort: 0, dns: false };
    const dev = await startDev({ folder, ...ports, ephemeral, log: () => {}, logLevel: "none" });
    onTestFinished(() => dev.stop());
    await dev.ready;
    const text = async () => (await fetch(dev.url)).text();
    await fetch(dev.url, { method: "PUT", body: "purr" });
    expect(await text()).toBe("purr");
    await dev.state.reset();
    expect(await text()).toBe("meow");
    write(join(folder, "seed/buckets/photos/cat.txt"), "hiss");
    await dev.state.reset();
    expect(await text()).toBe("hiss");
    await dev.stop();
    expect(existsSync(dev.persistFolder)).toBe(!ephemeral);
  });

  it.each([
    [["--from", "a", "--seed", "seed"], "--from and --seed (from, seed) exclude each other", 1],
    [
      ["--ephemeral", "--persist-to", "x"],
      "--ephemeral and --persist-to (ephemeral, persistTo)",
      1,
    ],
    [["--seed", "seeds"], "There is no folder seeds with a seed", 3],
  ])("refuses %j", async (options, message, exitCode) => {
    const { code, error } = await run(createProject(small), "ledge", "dev", ...options);
    expect({ code, error }).toEqual({
      code: exitCode,
      error: expect.stringContaining(message) as string,
    });
  });

  it.each([
    [
      { "seed/buckets/photos/a.json": "{", "seed/buckets/logs.json": "{" },
      "seed/buckets/logs.json:1:2 is not JSON",
    ],
    [
      { "seed/d1/DB.sql": "SELECT 1;\n\nINSERT INTO missing\nVALUES (1);" },
      "seed/d1/DB.sql:3: no such table: missing",
    ],
    [
      { "seed/kv/PLAIN.json": { a: { value: "b", expirationTtl: 1 } } },
      'seed/kv/PLAIN.json: "a": ',
    ],
    [
      { "seed/zones/example.com.zone": "$TTL 300\nwww A 192.0.2.256\n" },
      "seed/zones/example.com.zone:2: ",
    ],
  ])("says where a mistake of the seed is, and writes nothing: %j", async (mistake, message) => {
    const folder = createProject({ ...files, ...mistake });
    const { code, error } = await run(folder, "ledge", "dev", "--port", "0");
    expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining(message) as string });
    expect(error.split("\n").filter((line) => /^ +at /.test(line))).toEqual([]);
    expect(existsSync(join(folder, ".wrangler/state/v3"))).toBe(false);
    expect(seedsOf(folder)).toEqual([]);
    expect(readdirSync(savedFolder(folder)).filter((name) => name.startsWith(".seed-"))).toEqual(
      [],
    );
  });
});
