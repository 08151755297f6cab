/** Stock wrangler and Vite run the project of docs/stock-tools.md. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { createProject, DevProcess } from "../support/dev-process.ts";
import { blobFiles, temporaryFolder } from "../support/store.ts";
import { documentedProject } from "./support/documented-project.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

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
});
