/** Stock wrangler and Vite run the project of docs/stock-tools.md. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { getPlatformProxy } from "wrangler";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { createProject, DevProcess } from "../support/dev-process.ts";
import { freePort } from "../support/free-port.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { blobFiles, temporaryFolder } from "../support/store.ts";
import { plugin } from "../support/worker.ts";
import { documentedProject } from "./support/documented-project.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");
const wranglerDev = [wrangler, "dev", "--port", "0", "--inspector-port", "0"];
const vite = join(root, "node_modules/vite/bin/vite.js");
const page = readFileSync(join(root, "docs/stock-tools.md"), "utf8");

/** A `node_modules` with `ledge`, for tools that resolve packages from their own folder. */
function modulesWithLedge(): string {
  const modules = join(temporaryFolder(), "node_modules");
  mkdirSync(modules);
  symlinkSync(root, join(modules, "ledge"), "dir");
  return modules;
}

describe("docs/stock-tools.md", { timeout: 180_000 }, () => {
  it.each([
    ["ledge dev", [join(root, "dist/cli.js"), "dev", "--port", "0", "--no-dns"], /^Ready +(\S+)/m],
    ["wrangler dev", wranglerDev, /Ready on (http:\/\/\S+)/],
    ["vite", [vite, "--port", "5470"], /Local: +(http:\/\/\S+?)\/?\s/],
  ])("holds for %s", async (_, args, address) => {
    const folder = createProject({
      ...documentedProject(),
      "package.json": { name: "photos", type: "module" },
    });
    const server = new DevProcess(process.execPath, args, folder, {
      NODE_PATH: modulesWithLedge(),
    });
    const [, url] = await server.waitForOutput(address);

    const photo = bytesOf(300_000);
    const put = await fetch(`${url}/cat`, { method: "PUT", body: photo });
    expect(await put.json()).toEqual({ etag: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
    const got = await fetch(`${url}/cat`);
    expect(sameBytes(new Uint8Array(await got.arrayBuffer()), photo)).toBe(true);
    expect((await fetch(`${url}/dog`)).status).toBe(404);
    expect(blobFiles(join(folder, ".wrangler/state/v3"))).toHaveLength(1);
    await server.end("SIGINT");
  });

  it("its binding to the S3-compatible API serves the buckets beside wrangler dev", async () => {
    // Nothing prints the port of the binding: the port of the configuration is exact.
    const port = await freePort();
    const [, binding] = /^```jsonc\n\/\/ of unsafe\.bindings\n([^]*?)^```$/m.exec(page) ?? [];
    const project = documentedProject();
    const folder = createProject({
      ...project,
      "wrangler.jsonc": project["wrangler.jsonc"].replace(
        '"bindings": [',
        `"bindings": [${binding?.replace("8789", String(port))},`,
      ),
      "package.json": { name: "photos", type: "module" },
    });
    const server = new DevProcess(process.execPath, wranglerDev, folder, {
      NODE_PATH: modulesWithLedge(),
    });
    const [, url] = await server.waitForOutput(/Ready on (http:\/\/\S+)/);
    await fetch(`${url}/cat`, { method: "PUT", body: "meow" });
    const credentials = { accessKeyId: "local", secretAccessKey: "local-secret" };
    const client = new S3TestClient({ port, credentials });
    expect((await client.send({ target: "/photos/cat" })).text).toBe("meow");
    await client.send({ method: "PUT", target: "/photos/dog", body: "woof" });
    expect(await (await fetch(`${url}/dog`)).text()).toBe("woof");
    await server.end("SIGINT");
    await expect(client.send({ target: "/photos/cat" })).rejects.toThrow("ECONNREFUSED");
  });
});

describe("docs/stock-tools.md, buckets on an S3 service", { timeout: 180_000 }, () => {
  const service = useS3({ buckets: [{ name: "photos" }] });

  /** The project of the page with the options of the page; the service is that of this file. */
  function remoteProject(...bindings: object[]): string {
    const [, options] =
      /^```jsonc\n\/\/ dev\.options of the binding\n([^]*?)^```$/m.exec(page) ?? [];
    const { url } = service.server;
    const project = documentedProject();
    const entries = bindings.map((each) => `${JSON.stringify(each)},`).join("");
    const configuration = project["wrangler.jsonc"]
      .replace(
        '{ "bucket_name": "photos" }',
        String(options?.replace("https://s3.example.net", url)),
      )
      .replace('"bindings": [', `"bindings": [${entries}`);
    expect(configuration).toContain(url);
    return createProject({
      ...project,
      "wrangler.jsonc": configuration,
      "package.json": { name: "photos", type: "module" },
    });
  }

  /** The environment of a tool, with the keys of the service. */
  function environment(): Record<string, string> {
    const { accessKeyId, secretAccessKey } = service.server.credentials;
    return {
      NODE_PATH: modulesWithLedge(),
      LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID: accessKeyId,
      LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  it.each([
    ["wrangler dev", wranglerDev, /Ready on (http:\/\/\S+)/],
    ["vite", [vite, "--port", "5480"], /Local: +(http:\/\/\S+?)\/?\s/],
  ])("%s takes the keys from the environment", async (tool, args, address) => {
    const folder = remoteProject();
    const server = new DevProcess(process.execPath, args, folder, environment());
    const [, url] = await server.waitForOutput(address);
    const photo = bytesOf(300_000);
    const key = tool.replace(" ", "-");
    expect((await fetch(`${url}/${key}`, { method: "PUT", body: photo })).status).toBe(200);
    const got = await fetch(`${url}/${key}`);
    expect(sameBytes(new Uint8Array(await got.arrayBuffer()), photo)).toBe(true);
    const stored = await service.client.send({ target: `/photos/team/${key}` });
    expect(sameBytes(new Uint8Array(stored.body), photo)).toBe(true);
    await server.end("SIGINT");
  });

  it("a start without a key says which variable is missing", async () => {
    const server = new DevProcess(process.execPath, wranglerDev, remoteProject(), {
      ...environment(),
      LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID: "",
      LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: "",
    });
    const [, sentence] = /^```text\n(Store bucket "PHOTOS": .*)\n```$/m.exec(page) ?? [];
    expect(await server.exited).toBe(1);
    expect(server.output).toContain(sentence);
    expect(server.output).not.toContain("Ready on");
  });

  it("the S3-compatible API beside wrangler dev passes requests on to the service", async () => {
    // Nothing prints the port of the binding: the port of the configuration is exact.
    const port = await freePort();
    const credentials = { accessKeyId: "local", secretAccessKey: "local-secret" };
    const options = { port, access_key_id: "local", secret_access_key: "local-secret" };
    const folder = remoteProject({
      name: "S3",
      type: "store_s3",
      dev: { plugin: { package: "ledge/plugin", name: "store" }, options },
    });
    const server = new DevProcess(process.execPath, wranglerDev, folder, environment());
    const [, url] = await server.waitForOutput(/Ready on (http:\/\/\S+)/);
    const client = new S3TestClient({ port, credentials });
    await client.send({ method: "PUT", target: "/photos/dog", body: "woof" });
    expect(await (await fetch(`${url}/dog`)).text()).toBe("woof");
    expect((await service.client.send({ target: "/photos/team/dog" })).text).toBe("woof");
    await server.end("SIGINT");
  });

  it("getPlatformProxy() of wrangler takes the keys from the option", async () => {
    const { url: endpoint, credentials } = service.server;
    const remote = {
      name: "inline",
      endpoint,
      access_key_id: credentials.accessKeyId,
      secret_access_key: credentials.secretAccessKey,
    };
    const options = { bucket_name: "photos", remote };
    const folder = createProject({
      "wrangler.json": {
        name: "photos",
        compatibility_date: "2026-08-01",
        unsafe: { bindings: [{ name: "PHOTOS", type: "store_bucket", dev: { plugin, options } }] },
      },
    });
    const { env, dispose } = await getPlatformProxy<{ PHOTOS: StoreBucket }>({
      configPath: join(folder, "wrangler.json"),
      persist: { path: join(folder, "state/v3") },
    });
    try {
      await env.PHOTOS.put("proxy", "from Node");
      expect(await (await env.PHOTOS.get("proxy"))?.text()).toBe("from Node");
      expect((await service.client.send({ target: "/photos/proxy" })).text).toBe("from Node");
    } finally {
      await dispose();
    }
  });
});
