/** `testControl()` of a dev server: the controls of `ledge/test` for a script that runs on. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  callMatchers,
  queryMatchers,
  startDev,
  testControl,
  type DevTestControl,
  type RunningDev,
} from "../../dist/index.js";
import { waitOptions, write } from "../support/dev-process.ts";

/** Answers with the error of a bucket, so that a test sees what its faults do. */
const script = `
  export default {
    async fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      const key = pathname.slice(1);
      try {
        if (request.method === "PUT") await env.PHOTOS.put(key, request.body);
        if (request.method === "POST") {
          const upload = await env.PHOTOS.createMultipartUpload(key);
          await upload.uploadPart(1, await request.text());
          return new Response(upload.uploadId);
        }
        if (request.method === "PATCH") {
          const upload = env.PHOTOS.resumeMultipartUpload(key, searchParams.get("id"));
          await upload.uploadPart(1, "again");
        }
        const object = await env.PHOTOS.get(key);
        return new Response(object === null ? "none" : await object.text());
      } catch (error) {
        return new Response(error.message);
      }
    },
  };`;

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
let dev: RunningDev;
let control: DevTestControl;

beforeAll(async () => {
  symlinkSync(modules, join(folder, "node_modules"), "dir");
  write(join(folder, "index.js"), script);
  write(join(folder, "wrangler.json"), {
    name: "controls",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  });
  dev = await startDev({
    configPath: join(folder, "wrangler.json"),
    port: 0,
    dnsPort: 0,
    dnsApiPort: 0,
    s3: false,
    explorer: false,
    log: () => {},
    logLevel: "none",
  });
  await dev.ready;
  control = await testControl(dev);
});

afterAll(async () => {
  await control?.close();
  await dev?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

afterEach(() => control.clear());

async function ask(method: string, key: string, body?: string): Promise<string> {
  return (await fetch(`${dev.url}/${key}`, { method, body })).text();
}

describe("faults", () => {
  it("hit calls of the script, are counted, and end", async () => {
    await control.faults.fail({ method: "put", key: "*.png", code: 10058, times: 1 });
    await control.faults.fail({ method: "put", key: "*.png", times: 1 });
    await control.faults.fail({ method: "put", key: "*.png", times: 1 });
    await control.faults.slow({ method: "head", by: "1s" });
    expect(await ask("PUT", "a.png", "one")).toContain("(10058)");
    expect(await ask("PUT", "a.png", "two")).toContain("(10001)");
    expect(await ask("PUT", "a.png", "two")).toContain("(10001)");
    expect(await ask("PUT", "a.png", "three")).toBe("three");
    expect(await control.faults.injected()).toMatchObject([
      { bucket: "photos", method: "put", key: "a.png", nth: 1, effect: { code: 10058 } },
      { bucket: "photos", method: "put", key: "a.png", nth: 1, effect: { code: 10001 } },
      { bucket: "photos", method: "put", key: "a.png", nth: 1, effect: { code: 10001 } },
    ]);
    expect(await control.describeFaults()).toMatch(
      /failed with 10058[^]*failed with 10001[^]*hit no call:\n {2}faults\.slow\(.*no call matches$/,
    );
    await control.faults.fail({ method: "get" });
    await control.faults.clear();
    expect(await ask("GET", "a.png")).toBe("three");
  });

  it("stay in force when the runtime starts again", async () => {
    await control.faults.fail({ method: "get", bucket: "photos" });
    await dev.restart();
    expect(await vi.waitFor(() => ask("GET", "a.png"), waitOptions)).toContain("(10001)");
  });

  it("are refused where they could hit no call", async () => {
    await expect(control.faults.fail({ bucket: "photo" })).rejects.toThrow(/"photo".*"photos"/);
    await expect(control.faults.fail({ binding: "KV" })).rejects.toThrow("vitest pool alone");
  });

  it("do not hit seed() and contents()", async () => {
    await control.faults.fail({});
    await control.seed("photos", { seeded: "one" });
    expect(await control.contents("photos", { prefix: "seeded" })).toEqual({ seeded: "one" });
    expect(await ask("GET", "seeded")).toContain("(10001)");
  });
});

describe("clock", () => {
  it("expires an upload after 7 days, and is that of the machine again after clear()", async () => {
    const id = await ask("POST", "large.png", "part");
    expect(await ask("PATCH", `large.png?id=${id}`)).toBe("none");
    await control.clock.advance("8d");
    expect(Math.round((+(await control.clock.now()) - Date.now()) / 86_400_000)).toBe(8);
    expect(await ask("PATCH", `large.png?id=${id}`)).toContain("(10024)");
    await control.clock.set("2040-01-01");
    expect((await control.clock.now()).getFullYear()).toBe(2040);
    await control.clear();
    expect(Math.abs(+(await control.clock.now()) - Date.now())).toBeLessThan(3_600_000);
  });
});

describe("calls", () => {
  it("are those of the script, and begin anew after clear()", async () => {
    await control.seed("photos", { "seeded.png": "one" });
    await ask("PUT", "b.png", "photo");
    expect(await control.calls()).toEqual([
      { bucket: "photos", method: "put", key: "b.png", keys: ["b.png"], bytes: 5, outcome: "ok" },
      { bucket: "photos", method: "get", key: "b.png", keys: ["b.png"], bytes: 5, outcome: "ok" },
    ]);
    expect(callMatchers.toHavePut(await control.calls(), "*.png", { times: 1 }).pass).toBe(true);
    await control.clear();
    expect(await control.calls()).toEqual([]);
    await ask("GET", "absent");
    expect(await control.calls()).toMatchObject([{ method: "get", outcome: "none" }]);
  });
});

describe("seed() and contents()", () => {
  it("write and read objects with metadata, of any size", async () => {
    const large = "x".repeat(300_000);
    await control.seed("photos", {
      "seed/a.txt": { value: "one", httpMetadata: { contentType: "text/plain" } },
      "seed/large.txt": large,
    });
    expect(await ask("GET", "seed/large.txt")).toBe(large);
    const found = await control.contents("photos", { prefix: "seed/", metadata: true });
    expect(found["seed/a.txt"]).toEqual({
      content: "one",
      httpMetadata: { contentType: "text/plain" },
      customMetadata: {},
    });
    expect(found["seed/large.txt"]?.content).toContain("<300000 bytes>");
  });

  it("refuse a bucket that no script has, and a key that is too long", async () => {
    await expect(control.seed("photo", { a: "1" })).rejects.toThrow(/"photo".*"photos"/);
    await expect(control.contents("photo")).rejects.toThrow(/"photo".*"photos"/);
    const key = "k".repeat(2000);
    await expect(control.seed("photos", { [key]: "1" })).rejects.toThrow(/Cannot seed "kkk.*10020/);
  });
});

describe("dns", () => {
  it("changes zones, breaks answers, and has the log of queries", async () => {
    await control.dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
    await control.dns.watchQueries();
    expect(await control.dns.resolve("www.example.org")).toEqual(["192.0.2.1"]);
    await control.dns.faults.servfail({ name: "www.example.org" });
    expect((await control.dns.resolve("www.example.org")).rcode).toBe("SERVFAIL");
    const queries = await control.dns.queries();
    expect(queryMatchers.toHaveQueried(queries, "www.example.org", { times: 2 }).pass).toBe(true);
    await control.clear();
    expect(await control.dns.resolve("www.example.org")).toEqual(["192.0.2.1"]);
    await expect(control.dns.fetch("https://www.example.org/")).rejects.toThrow("localhost");
  });
});

describe("state", () => {
  it("is what was saved again after reset(), which ends faults and moves the clock back", async () => {
    await control.seed("photos", { kept: "1" });
    await control.state.save("prepared");
    await ask("PUT", "written", "2");
    await control.faults.fail({ method: "get" });
    await control.clock.advance("1d");
    expect(await control.reset()).toMatchObject({ name: "prepared", undo: null, ended: [] });
    expect(await control.contents("photos")).toMatchObject({ kept: "1" });
    expect(await control.contents("photos", { prefix: "written" })).toEqual({});
    expect(await control.calls()).toEqual([]);
    expect(await ask("GET", "written")).toBe("none");
    expect(Math.abs(+(await control.clock.now()) - Date.now())).toBeLessThan(3_600_000);
  });
});

it("isolate() and snapshot() say what a dev server has in their place", async () => {
  await expect(control.isolate()).rejects.toThrow("state.save()");
  await expect(control.snapshot()).rejects.toThrow("state.save()");
});
