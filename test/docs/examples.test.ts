/**
 * The examples as a user runs them: started by wrangler and used over HTTP. The tests of each
 * example, which run in workerd, cover the rules of its script.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { parse } from "jsonc-parser";
import { describe, expect, it, onTestFinished } from "vitest";
import { unstable_startWorker as startWorker } from "wrangler";
import { startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, plugin, worker } from "../support/worker.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const read = (path: string) => readFileSync(join(examples, path), "utf8");

interface Configuration {
  store_buckets: { binding: string; bucket_name: string }[];
}

/** Starts an example on the folder `state`, and returns its origin. */
async function startExample(name: string, state = temporaryFolder()): Promise<string> {
  const { store_buckets: buckets, ...config } = parse(
    read(`${name}/wrangler.jsonc`),
  ) as Configuration;
  const bindings = buckets.map(({ binding, bucket_name }) => ({
    name: binding,
    type: "store_bucket",
    dev: { plugin, options: { bucket_name } },
  }));
  // In the folder of the original, because the paths in the file are relative.
  const configPath = join(examples, name, `.ledge-${process.pid}.wrangler.json`);
  writeFileSync(configPath, JSON.stringify({ ...config, unsafe: { bindings } }));
  onTestFinished(() => rmSync(configPath, { force: true }));
  const running = await startWorker({
    config: configPath,
    dev: { persist: state, server: { port: 0 }, inspector: false, logLevel: "none" },
  });
  onTestFinished(() => running.dispose());
  await running.ready;
  return (await running.url).origin;
}

/** A request whose response is not decompressed, as `fetch` would do. */
function rawGet(url: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      const sent = request(url, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      sent.on("error", reject);
      sent.end();
    },
  );
}

describe("examples/photos", () => {
  it("serves its page, and photos with their length", async () => {
    const origin = await startExample("photos");
    expect(await (await fetch(origin)).text()).toContain("<title>Photos</title>");

    const photo = Buffer.alloc(300_000, "photo");
    const put = await fetch(`${origin}/photos/cats/tom.jpg`, { method: "PUT", body: photo });
    expect(put.status).toBe(201);
    const url = `${origin}/photos/cats/tom.jpg`;
    const whole = await rawGet(url, {});
    expect(whole.headers).toMatchObject({
      "content-length": "300000",
      "content-type": "image/jpeg",
      etag: put.headers.get("etag"),
    });
    expect(whole.body.equals(photo)).toBe(true);
    const part = await rawGet(url, { range: "bytes=5-9" });
    expect([part.status, part.headers["content-length"], String(part.body)]).toEqual([
      206,
      "5",
      "photo",
    ]);
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe("300000");
    const folder = (await (await fetch(`${origin}/photos`)).json()) as { folders: string[] };
    expect(folder.folders).toEqual(["cats/"]);
  });
});

describe("examples/large-files", () => {
  it("stores a file from its uploader, and serves it", async () => {
    const origin = await startExample("large-files");
    expect(await (await fetch(origin)).text()).toContain("<title>Large files</title>");

    const { Upload } = await import("../../examples/large-files/public/upload.js");
    const content = Buffer.alloc(20_000_000, "0123456789abcdef!");
    const items = new Map<string, string>();
    const upload = new Upload(new File([content], "large.bin", { lastModified: 1 }), {
      fetch: (path, init) => fetch(origin + path, init),
      storage: {
        getItem: (key) => items.get(key) ?? null,
        setItem: (key, value) => void items.set(key, value),
        removeItem: (key) => void items.delete(key),
      },
    });
    await upload.start();
    expect(upload.error).toBeNull();
    const { body } = await rawGet(`${origin}/files/large.bin`, {});
    expect(body.equals(content)).toBe(true);
  });
});

describe("examples/site", () => {
  const site = join(examples, "site/site");
  const files = readdirSync(site, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => relative(site, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));

  it("serves its pages, the targets of their links, and compressed variants", async () => {
    const state = temporaryFolder();
    const store = await startStore(join(state, "v3"), [
      worker("export default {};", { env: { BUCKET: bucketEntry({ bucket_name: "site" }) } }),
    ]);
    for (const file of files) {
      const content = readFileSync(join(site, file));
      await store.bucket.put(file, content);
      await store.bucket.put(`${file}.br`, brotliCompressSync(content));
    }
    await store.stop();

    const origin = await startExample("site", state);
    const pages = files.filter((file) => file.endsWith(".html"));
    const targets = pages.flatMap((page) =>
      Array.from(read(`site/site/${page}`).matchAll(/(?:href|src)="([^"]+)"/g), ([, target]) => ({
        target: target as string,
        status: target === "/nowhere" ? 404 : 200,
      })),
    );
    expect(targets.length).toBeGreaterThan(8);
    for (const { target, status } of targets) {
      const response = await fetch(origin + target);
      expect([target, response.status]).toEqual([target, status]);
    }

    const plain = await rawGet(`${origin}/`, {});
    expect(plain.headers).not.toHaveProperty("content-encoding");
    expect(String(plain.body)).toBe(read("site/site/index.html"));
    const compressed = await rawGet(`${origin}/`, { "accept-encoding": "br" });
    expect(compressed.headers).toMatchObject({ "content-encoding": "br", vary: "accept-encoding" });
    expect(compressed.headers["etag"]).not.toBe(plain.headers["etag"]);
    expect(String(brotliDecompressSync(compressed.body))).toBe(String(plain.body));
    const unchanged = await rawGet(`${origin}/`, {
      "accept-encoding": "br",
      "if-none-match": compressed.headers["etag"] as string,
    });
    expect(unchanged.status).toBe(304);
  });
});

describe("every example", () => {
  it.each(["photos", "large-files"])("%s has the elements and files that its page uses", (name) => {
    const folder = join(examples, name, "public");
    const page = read(`${name}/public/index.html`);
    const scripts = readdirSync(folder).filter((file) => file.endsWith(".js"));
    const ids = scripts.flatMap((script) =>
      Array.from(
        read(`${name}/public/${script}`).matchAll(/\belement\("([^"]+)"\)/g),
        ([, id]) => id,
      ),
    );
    expect(ids.length).toBeGreaterThan(8);
    for (const id of ids) expect(page).toContain(`id="${id}"`);
    for (const [, file] of page.matchAll(/(?:src|href)="\/([^"]+)"/g)) {
      expect(readdirSync(folder)).toContain(file);
    }
  });
});
