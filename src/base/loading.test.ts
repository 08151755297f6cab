import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { loadWithBytecode, saveBytecode } from "./loading.ts";

it("loadSqlite() prints no warning, and later warnings are printed", () => {
  const program = `
    import { loadSqlite } from ${JSON.stringify(new URL("./loading.ts", import.meta.url).href)};
    new (loadSqlite().DatabaseSync)(":memory:").close();
    process.emitWarning("later");`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", program],
    { encoding: "utf8" },
  );
  expect(stdout + stderr).toMatch(/^\(node:\d+\) Warning: later\n/);
});

const require = createRequire(import.meta.url);

const source = `
const { join } = require("node:path");
exports.file = __filename;
exports.folder = __dirname;
exports.text = "Grüße — 🦄";
exports.join = (...parts) => join(...parts);
exports.load = () => import("./other.mjs");
exports.self = module.exports === exports && this === exports;
`;

describe("loadWithBytecode()", () => {
  let folder: string;
  let path: string;
  let cacheFolder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ledge-code-"));
    onTestFinished(() => {
      // Otherwise the next save would make the folder again.
      saveBytecode();
      rmSync(folder, { recursive: true });
    });
    path = join(folder, "node_modules/large/index.js");
    cacheFolder = join(folder, "node_modules/.cache/ledge");
    mkdirSync(join(folder, "node_modules/large"), { recursive: true });
    writeFileSync(path, source);
    writeFileSync(join(folder, "node_modules/large/other.mjs"), "export const other = 1;");
  });

  /** Loads the file as another process would. Returns its exports, and what a save writes. */
  function load() {
    loadWithBytecode(path);
    const exported = require(path);
    delete require.cache[path];
    const before = readCache();
    saveBytecode();
    return { exported, saved: before !== readCache() };
  }

  function readCache(): string | null {
    try {
      const [name = ""] = readdirSync(cacheFolder);
      return readFileSync(join(cacheFolder, name), "latin1");
    } catch {
      return null;
    }
  }

  function damage(change: (content: Buffer) => Buffer): void {
    const [name = ""] = readdirSync(cacheFolder);
    const file = join(cacheFolder, name);
    writeFileSync(file, change(readFileSync(file)));
  }

  it("runs a file as require() does, the first time and with its bytecode", async () => {
    const first = load();
    const second = load();
    expect([first.saved, second.saved]).toEqual([true, false]);
    for (const { exported } of [first, second]) {
      expect(exported).toMatchObject({
        file: path,
        folder: join(path, ".."),
        text: "Grüße — 🦄",
        self: true,
      });
      expect(exported.join("a", "b")).toBe(join("a", "b"));
      expect(await exported.load()).toMatchObject({ other: 1 });
    }
  });

  it("prints no warning of Node", async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => void warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    await load().exported.load();
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  });

  it("compiles another content of the file, and saves its bytecode", () => {
    load();
    writeFileSync(path, source.replace("Grüße", "Gruss"));
    expect(load()).toMatchObject({ saved: true, exported: { text: "Gruss — 🦄" } });
    expect(load()).toMatchObject({ saved: false, exported: { text: "Gruss — 🦄" } });
  });

  it.each([
    ["damaged", (content: Buffer) => content.fill(0, content.length >> 1)],
    ["cut short", (content: Buffer) => content.subarray(0, 5)],
    ["of another version", (content: Buffer) => content.fill(0, 8, 24)],
  ])("ignores bytecode that is %s", (_, change) => {
    load();
    damage(change);
    expect(load()).toMatchObject({ saved: true, exported: { self: true } });
    expect(load()).toMatchObject({ saved: false, exported: { self: true } });
  });

  it("throws the error of a file, and lets the next load run the file again", () => {
    writeFileSync(path, "throw new TypeError('no');");
    for (let attempt = 0; attempt < 2; attempt++) expect(load).toThrow(new TypeError("no"));
  });

  it("saves nothing where the folder of the cache is a file, and the file is loaded", () => {
    mkdirSync(join(cacheFolder, ".."), { recursive: true });
    writeFileSync(cacheFolder, "");
    expect(load()).toMatchObject({ saved: false, exported: { self: true } });
  });

  it("loads a file outside of node_modules without bytecode", () => {
    path = join(folder, "index.cjs");
    writeFileSync(path, source);
    expect(load()).toMatchObject({ saved: false, exported: { self: true } });
  });

  it("reports positions in the first line as Node does", () => {
    writeFileSync(path, "exports.stack = new Error('here').stack;");
    expect(load().exported.stack).toContain(`${path}:1:17`);
  });
});
