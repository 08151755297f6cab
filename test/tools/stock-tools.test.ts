/** Stock wrangler and Vite run the project of docs/stock-tools.md. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { createProject, DevProcess } from "../support/dev-process.ts";
import { fixedPort } from "../support/fixed-port.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { blobFiles, temporaryFolder } from "../support/store.ts";
import { documentedProject } from "./support/documented-project.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
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
    ["ledge dev", ["dist/cli.js", "dev", "--port", "0", "--no-dns"], /^Ready +(\S+)/m],
    [
      "wrangler dev",
      ["node_modules/wrangler/bin/wrangler.js", "dev", "--port", "0", "--inspector-port", "0"],
      /Ready on (http:\/\/\S+)/,
    ],
    ["vite", ["node_modules/vite/bin/vite.js", "--port", "5470"], /Local: +(http:\/\/\S+?)\/?\s/],
  ])("holds for %s", async (_, [tool, ...args], address) => {
    const folder = createProject({
      ...documentedProject(),
      "package.json": { name: "photos", type: "module" },
    });
    const server = new DevProcess(process.execPath, [join(root, tool as string), ...args], folder, {
      NODE_PATH: modulesWithLedge(),
    });
    const [, url] = await server.waitForOutput(address);

    const photo = bytesOf(300_000);
    const put = await fetch(`${url}/cat`, { method: "PUT", body: photo });
    expect(await put.json()).toEqual({ etag: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
    const got = await fetch(`${url}/cat`);
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(photo);
    expect((await fetch(`${url}/dog`)).status).toBe(404);
    expect(blobFiles(join(folder, ".wrangler/state/v3"))).toHaveLength(1);
    await server.end("SIGINT");
  });

  it("its binding to the S3-compatible API serves the buckets beside wrangler dev", async () => {
    const port = Number(await fixedPort());
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
    const args = ["node_modules/wrangler/bin/wrangler.js", "dev", "--port", "0"];
    const server = new DevProcess(
      process.execPath,
      [join(root, args[0] as string), ...args.slice(1), "--inspector-port", "0"],
      folder,
      { NODE_PATH: modulesWithLedge() },
    );
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
