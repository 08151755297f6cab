/** docs/state.md: its commands, its requests, and its suite of Playwright, beside a running dev server. */
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { startDev, type RunningDev } from "../../dist/index.js";
import { waitOptions, write } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { blocks, read, root, section } from "./support/pages.ts";

const page = read("docs/state.md");
const run = promisify(execFile);

const files = {
  "package.json": { type: "module" },
  "wrangler.jsonc": {
    name: "photos",
    main: "src/index.ts",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    kv_namespaces: [{ binding: "KV", id: "notes" }],
    state: { seed: "./seed" },
  },
  "seed/buckets/photos/hello.txt": "hello",
  "src/index.ts": `export default {
    async fetch(request: Request, { PHOTOS, KV }: { PHOTOS: StoreBucket; KV: KVNamespace }) {
      const key = new URL(request.url).pathname.slice(1);
      if (request.method === "DELETE") await PHOTOS.delete(key);
      else if (request.method === "PUT") await PHOTOS.put(key, await request.text());
      if (request.method === "PUT") await KV.put("last", key);
      return new Response([await (await PHOTOS.get(key))?.text(), await KV.get("last")].join(" "));
    },
  };`,
};

/** A project with this package among its modules. */
function project(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules/@playwright"), { recursive: true });
  for (const name of [
    "@playwright/test",
    "playwright",
    "playwright-core",
    "wrangler",
    "miniflare",
  ]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name), "dir");
  }
  symlinkSync(root, join(folder, "node_modules/ledge"), "dir");
  for (const [name, content] of Object.entries(files)) write(join(folder, name), content);
  return folder;
}

async function start(folder: string): Promise<RunningDev> {
  const ports = { port: 0, dnsApiPort: 0, dnsPort: 0, explorerPort: 0 };
  const dev = await startDev({ folder, ...ports, s3: false, logLevel: "none", log() {} });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return dev;
}

const get = async (dev: RunningDev, key: string) => (await fetch(new URL(key, dev.url))).text();
const put = (dev: RunningDev, key: string, body: string) =>
  fetch(new URL(key, dev.url), { method: "PUT", body });

it(
  "the commands of docs/state.md save, compare and restore beside a dev server",
  async () => {
    const folder = project();
    const dev = await start(folder);
    await put(dev, "lake.png", "a lake");
    const [block = ""] = blocks(page, "sh");
    const printed = new Map<string, string>();
    let restored = "";
    for (const line of block.trimEnd().split("\n")) {
      const [, name = "", ...words] = line.replace(/ +#.*/, "").split(" ");
      expect(name).toBe("state");
      const { code, out } = await runInProcess(folder, [name, ...words]);
      expect({ line, code }).toEqual({ line, code: 0 });
      printed.set(words.join(" "), out);
      if (words[0] === "save") await put(dev, "lake.png", "another lake");
      if (words[0] === "restore") restored = await get(dev, "lake.png");
    }
    expect(printed.size).toBe(8);
    expect(restored).toBe("a lake lake.png");
    expect(printed.get("diff clean")).toContain("lake.png");
    expect(printed.get("restore clean")).toMatch(/before-restore-/);
    // The base of this dev server is what it restored last.
    expect(await get(dev, "lake.png")).toBe("a lake lake.png");
    expect(await get(dev, "hello.txt")).toBe("hello lake.png");
  },
  waitOptions.timeout * 2,
);

it("the requests and the task of Cypress of docs/state.md save and reset", async () => {
  const folder = project();
  const dev = await start(folder);
  const { port } = new URL(dev.explorerUrl ?? "");
  const [block = ""] = blocks(section(page, "Other tools"), "sh");
  const [token = "", save = "", reset = ""] = block.trimEnd().split("\n");
  const curl = async (line: string): Promise<string> => {
    const script = `${token}\n${line.replace("curl", "curl -sf").replace("8790", port)}`;
    return (await run("sh", ["-ec", script], { cwd: folder })).stdout;
  };
  await put(dev, "lake.png", "a lake");
  expect(JSON.parse(await curl(save))).toMatchObject({ name: "clean", isAutomatic: false });
  const restored = { name: "clean", undo: null, ended: [], isRestarted: false };
  const [task = ""] = blocks(page, "js");
  write(join(folder, "cypress.config.js"), task);
  const calling =
    'import { resetState } from "./cypress.config.js"; console.log(JSON.stringify(await resetState()))';
  const runTask = async () =>
    (await run(process.execPath, ["--input-type=module", "-e", calling], { cwd: folder })).stdout;
  for (const act of [() => curl(reset), runTask]) {
    await put(dev, "lake.png", "another lake");
    expect(JSON.parse(await act())).toEqual(restored);
    expect(await get(dev, "lake.png")).toBe("a lake lake.png");
  }
});

it(
  "the suite of Playwright of docs/state.md passes",
  async () => {
    const folder = project();
    for (const code of blocks(page, "ts")) {
      const [, name = ""] = /^\/\/ (\S+)\n/.exec(code) ?? [];
      write(join(folder, name), code);
    }
    const command = [join(root, "node_modules/@playwright/test/cli.js"), "test", "--reporter=line"];
    const { stdout } = await run(process.execPath, command, { cwd: folder });
    expect(stdout).toContain("4 passed");
  },
  waitOptions.timeout * 2,
);
