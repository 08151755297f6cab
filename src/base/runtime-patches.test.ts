import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished, beforeEach, describe } from "vitest";
import {
  loadWithBytecode,
  loopbackArgument,
  saveBytecode,
  watchCrashes,
} from "./runtime-patches.ts";
import { isMarkHeld, makeMark } from "./open-mark.ts";
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

describe.skipIf(process.platform === "win32")("endProgramsWithThisProcess()", () => {
  it("gives a runtime a private umask, and no other process", () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      process.umask(0o022);
      patches.endProgramsWithThisProcess();
      for (const argument of ["${loopbackArgument}localhost:1", "other"]) {
        const args = ["-p", "process.umask().toString(8)", "--", argument];
        const child = spawn(process.execPath, args, { stdio: "inherit" });
        await once(child, "close");
      }
      console.log(process.umask().toString(8));
    `);
    expect(printed.split("\n")).toEqual(["77", "22", "22", ""]);
  });

  it("keeps exit codes, signals, and the error for a file that does not exist", () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      patches.endProgramsWithThisProcess();
      const start = (program, file = process.execPath) =>
        spawn(file, ["-e", program, "--", "${loopbackArgument}localhost:1"], { stdio: "ignore" });
      console.log(await once(start("process.exit(3)"), "close"));
      const waiting = start("setInterval(() => {}, 1000)");
      waiting.kill("SIGTERM");
      console.log(await once(waiting, "close"));
      console.log((await once(start("", "/missing"), "error"))[0].code);
    `);
    expect(printed).toBe("[ 3, null ]\n[ null, 'SIGTERM' ]\nENOENT\n");
  });

  it.each(["SIGKILL", "SIGTERM"] as const)(
    "ends a runtime and the bundler when the process ends by %s, also stopped ones",
    async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), "ledge-programs-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const marks = ["runtime", "bundler"].map((name) => join(folder, name));
      for (const mark of marks) makeMark(mark);
      // The program holds the mark open, as a runtime does.
      const script = `
        import * as patches from ${JSON.stringify(patchesUrl)};
        import { openMark } from ${JSON.stringify(new URL("./open-mark.ts", import.meta.url).href)};
        import { spawn } from "node:child_process";
        const isLate = ${signal === "SIGTERM"};
        if (!isLate) patches.endProgramsWithThisProcess();
        const wait = "console.log(1); setInterval(() => {}, 1000)";
        const words = [["${loopbackArgument}localhost:1"], ["esbuild", "--service=1"]];
        for (const [index, mark] of ${JSON.stringify(marks)}.entries()) {
          const stdio = ["ignore", "pipe", "inherit", ...openMark(mark)];
          const child = spawn(process.execPath, ["-e", wait, "--", ...words[index]], { stdio });
          await new Promise((resolve) => child.stdout.once("data", resolve));
          child.kill("SIGSTOP");
        }
        // A plugin of wrangler is loaded after wrangler has started its proxy.
        if (isLate) patches.endProgramsWithThisProcess();
        console.log("started");
        setInterval(() => {}, 1000);`;
      const parent = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      await once(parent.stdout, "data");
      const isHeld = () => marks.map(isMarkHeld);
      // The parent has the marks open, too.
      expect(isHeld()).toEqual([true, true]);
      parent.kill(signal);
      await expect.poll(isHeld, { timeout: 30_000 }).toEqual([false, false]);
    },
  );
});

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
