/** The bindings of a project in Node, on the state folder of the dev server. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { getPlatformProxy, type PlatformProxyOptions, type StoreBucket } from "../../dist/index.js";
import { sameBytes } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { plugin } from "../support/worker.ts";

interface Env {
  PHOTOS: StoreBucket;
  KV: { put(key: string, value: string): Promise<void>; get(key: string): Promise<string | null> };
  GREETING: string;
  SECRET?: string;
  DNS: { fetch(url: string): Promise<Response> };
}

const configuration = `
name = "site"
compatibility_date = "2022-01-01"
compatibility_flags = ["store_list_honor_include"]
kv_namespaces = [{ binding = "KV", id = "kv" }]
vars = { GREETING = "hello" }
store_buckets = [{ binding = "PHOTOS", bucket_name = "photos", preview_bucket_name = "local" }]

[dns]
binding = "DNS"
zones = [{ name = "example.com" }]

[env.staging]
vars = { GREETING = "good day" }
store_buckets = [{ binding = "PHOTOS", bucket_name = "staging" }]
`;

function project(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "wrangler.toml"), configuration);
  writeFileSync(join(folder, ".dev.vars"), "SECRET=common");
  writeFileSync(join(folder, ".dev.vars.staging"), "SECRET=own");
  return folder;
}

async function open(options: PlatformProxyOptions) {
  const proxy = await getPlatformProxy<Env>(options);
  onTestFinished(() => proxy.dispose());
  return proxy;
}

describe("getPlatformProxy()", () => {
  it("returns buckets, other bindings, variables and secrets, and keeps state beside the file", async () => {
    const folder = project();
    mkdirSync(join(folder, "src"));
    const { env, cf, ctx, caches, dispose } = await open({ folder: join(folder, "src") });
    expect(env.GREETING).toBe("hello");
    expect(env.SECRET).toBe("common");
    expect(cf).toHaveProperty("colo");
    expect(typeof ctx.waitUntil).toBe("function");
    expect(caches).toHaveProperty("default");

    await env.KV.put("key", "value");
    expect(await env.KV.get("key")).toBe("value");

    const photo = Buffer.alloc(300_000, "photo");
    const { size } = await env.PHOTOS.put("photo", new Blob([photo]).stream(), {
      customMetadata: { by: "me" },
    });
    expect(size).toBe(photo.length);
    const object = await env.PHOTOS.get("photo", { range: { offset: 1, length: 200_000 } });
    const read: Buffer[] = [];
    for await (const chunk of object!.body) read.push(Buffer.from(chunk));
    expect(sameBytes(Buffer.concat(read), photo.subarray(1, 200_001))).toBe(true);
    // The flag of the configuration is on: list() omits metadata that `include` does not name.
    expect((await env.PHOTOS.list()).objects[0]?.customMetadata).toBeUndefined();
    expect(inspect(env)).toContain("PHOTOS");

    const zones = await env.DNS.fetch("http://dns/client/v4/zones");
    expect(await zones.json()).toMatchObject({ result: [{ name: "example.com" }] });

    await dispose();
    await dispose();
    const state = join(folder, ".wrangler/state/v3");
    expect(blobFiles(state)).toHaveLength(1);
    expect(readdirSync(folder).toSorted()).toEqual(
      [".dev.vars", ".dev.vars.staging", ".wrangler", "src", "wrangler.toml"].toSorted(),
    );
  });

  it("shares buckets with a runtime on the same folder", async () => {
    const folder = project();
    const state = join(folder, ".wrangler/state/v3");
    const store = await startStore(state, [
      {
        config: {
          name: "script",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "index.js",
            modules: { "index.js": { type: "esm", contents: "export default {};" } },
          },
          env: {
            BUCKET: {
              type: "unsafe:store_bucket",
              dev: { plugin, options: { bucket_name: "local" } },
            },
          },
        },
      },
    ] as never);
    const { env } = await open({ folder });
    await store.bucket.put("from-the-script", "1");
    await env.PHOTOS.put("from-node", "2");
    expect(await (await env.PHOTOS.get("from-the-script"))?.text()).toBe("1");
    expect(await (await store.bucket.get("from-node"))?.text()).toBe("2");
  });

  it("reads an environment, and keeps state in another folder or nowhere", async () => {
    const folder = project();
    const state = temporaryFolder();
    const configPath = join(folder, "wrangler.toml");
    const first = await open({ configPath, environment: "staging", persist: { path: state } });
    expect(first.env.GREETING).toBe("good day");
    expect(first.env.SECRET).toBe("own");
    expect(first.env.KV).toBeUndefined();
    await first.env.PHOTOS.put("key", "value");
    await first.dispose();
    expect(readdirSync(state)).toContain("store");

    const second = await open({ configPath, environment: "staging", persist: false });
    expect(await second.env.PHOTOS.get("key")).toBeNull();
    expect(readdirSync(folder)).not.toContain(join(".wrangler", "state"));
  });

  it("fails with the mistake in the configuration", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "wrangler.toml"), 'store_buckets = "photos"');
    await expect(getPlatformProxy({ folder })).rejects.toThrow("store_buckets must be a list");
  });

  it("works without a configuration file", async () => {
    const { env } = await open({ folder: temporaryFolder(), persist: false });
    expect(env).toEqual({});
  });
});
