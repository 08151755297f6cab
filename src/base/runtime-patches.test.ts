import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished, beforeEach, describe } from "vitest";
import { loadWithBytecode, saveBytecode, watchCrashes } from "./runtime-patches.ts";
import { loopbackArgument } from "./processes.ts";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A process that looks like a runtime of Miniflare, and has ended by an interrupt of another process. */
async function interruptedRuntime() {
  const crash = Promise.withResolvers<{ signal: string; tell: () => void }>();
  const endWatch = watchCrashes((signal, tell) => crash.resolve({ signal, tell }));
  onTestFinished(endWatch);
  const wait = "setInterval(() => {}, 1000)";
  const runtime = spawn(process.execPath, ["-e", wait, "--", `${loopbackArgument}localhost:1`], {
    stdio: "ignore",
  });
  onTestFinished(() => void runtime.kill("SIGKILL"));
  await once(runtime, "spawn");
  const told = recordExits(runtime);
  process.kill(runtime.pid as number, "SIGINT");
  return { runtime, told, ...(await crash.promise) };
}

function recordExits(child: ChildProcess): unknown[] {
  const told: unknown[] = [];
  child.on("exit", (_, signal) => told.push(signal));
  return told;
}

it("tells Miniflare of an end by a signal once, when the watcher says so", async () => {
  const { told, signal, tell } = await interruptedRuntime();
  expect(signal).toBe("SIGINT");
  await new Promise(setImmediate);
  expect(told).toEqual([]);
  tell();
  tell();
  expect(told).toEqual(["SIGINT"]);
});

it("tells Miniflare of the end when Miniflare stops the runtime", async () => {
  const { runtime, told, tell } = await interruptedRuntime();
  const exited = once(runtime, "exit");
  expect(told).toEqual([]);
  runtime.kill("SIGKILL");
  await exited;
  tell();
  expect(told).toEqual(["SIGINT"]);
});

const patchesUrl = new URL("./runtime-patches.ts", import.meta.url).href;

/** What a program prints that uses the patches in the main thread of a process. */
function runProgram(program: string): string {
  const script = `import * as patches from ${JSON.stringify(patchesUrl)};\n${program}`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", script],
    { encoding: "utf8" },
  );
  return stdout + stderr;
}

it.skipIf(process.platform === "win32")(
  "keepRuntimeFilesPrivate() gives a runtime a private umask, and no other process",
  () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      process.umask(0o022);
      patches.keepRuntimeFilesPrivate();
      for (const argument of ["${loopbackArgument}localhost:1", "other"]) {
        const args = ["-p", "process.umask().toString(8)", "--", argument];
        await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
      }
      console.log(process.umask().toString(8));
    `);
    expect(printed.split("\n")).toEqual(["77", "22", "22", ""]);
  },
);

it("loadSqlite() prints no warning, and later warnings are printed", () => {
  const printed = runProgram(`
    new (patches.loadSqlite().DatabaseSync)(":memory:").close();
    process.emitWarning("later");
  `);
  expect(printed).toMatch(/^\(node:\d+\) Warning: later\n/);
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
    onTestFinished(() => rmSync(folder, { recursive: true }));
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
