/** A runtime that Ledge starts without Miniflare. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { OwnRuntime } from "../../src/base/own-runtime.ts";
import { isAlive, ownConfigName, type ProcessIdentity } from "../../src/base/processes.ts";
import { temporaryFolder } from "../support/store.ts";

const socketName = "port";

function configOf(script: string, bindings: Record<string, string> = {}) {
  return {
    services: [
      {
        name: "main",
        worker: {
          compatibilityDate: "2026-08-01",
          modules: [{ name: "index.js", esModule: script }],
          bindings: Object.entries(bindings).map(([name, value]) => ({ name, text: value })),
        },
      },
    ],
    sockets: [{ name: socketName, address: "127.0.0.1:0", service: { name: "main" } }],
  };
}

const envScript = "export default { fetch: (_, env) => Response.json(env) };";

async function startRuntime(config: ReturnType<typeof configOf>, folder = temporaryFolder()) {
  const processes: ProcessIdentity[] = [];
  const listens: number[] = [];
  const lines: string[] = [];
  const runtime = await OwnRuntime.start({
    folder,
    config,
    onStart: (process) => void processes.push(process),
    onListen: (ports) => void listens.push(ports.get(socketName) as number),
    onOutput: (line) => void lines.push(line),
  });
  onTestFinished(() => runtime.stop());
  const request = () => fetch(`http://127.0.0.1:${runtime.portOf(socketName)}/`);
  return { runtime, processes, listens, lines, request };
}

describe("the configuration of a runtime", () => {
  it("keeps every text", async () => {
    const examples = ['"quoted" \\ \\n', "line\nline\r\n\t", "\u0000\u001f\u007f", "é € 𝄞 \\u0041"];
    const wellFormed = fc.string({ unit: "binary" }).map((value) => value.toWellFormed());
    const values = [...examples, ...fc.sample(wellFormed, 100)];
    const bindings = Object.fromEntries(values.map((value, index) => [`text${index}`, value]));
    const { request } = await startRuntime(configOf(envScript, bindings));
    expect(await (await request()).json()).toEqual(bindings);
  });

  it("is in a file of the user while the runtime starts, and in no file afterwards", async () => {
    const folder = temporaryFolder();
    const path = join(folder, ownConfigName);
    let mode = 0;
    const runtime = await OwnRuntime.start({
      folder,
      config: configOf(envScript, { secret: "secret" }),
      onStart: () => (mode = statSync(path).mode & 0o777),
      onListen() {},
      onOutput() {},
    });
    await runtime.stop();
    expect(mode.toString(8)).toBe("600");
    expect(existsSync(path)).toBe(false);
  });
});

describe("a runtime", () => {
  it("that is killed starts again at its port", async () => {
    const { processes, listens, request } = await startRuntime(configOf(envScript));
    process.kill(processes[0]!.processId, "SIGKILL");
    await expect.poll(() => listens.length, { timeout: 60_000 }).toBe(2);
    expect(listens[1]).toBe(listens[0]);
    expect((await request()).status).toBe(200);
    expect(processes.map(isAlive)).toEqual([false, true]);
  });

  it("that does not start gives workerd's reason, and leaves nothing", async () => {
    const folder = temporaryFolder();
    const started = startRuntime(configOf("export default {"), folder);
    await expect(started).rejects.toThrow(
      /^The runtime \(workerd\) does not start\. [^]*SyntaxError/,
    );
    expect(existsSync(join(folder, ownConfigName))).toBe(false);
  });

  it("passes on what its workers print", async () => {
    const script = `export default { fetch() { console.error("a message"); return new Response(); } };`;
    const { lines, request } = await startRuntime(configOf(script));
    await request();
    await expect.poll(() => lines.join("\n"), { timeout: 60_000 }).toContain("a message");
  });

  it.each([
    { end: "its last line", words: ["exit"] },
    { end: "an error that no code catches", words: ["throw"] },
    { end: "SIGTERM", words: ["wait"], signal: "SIGTERM" as const },
    { end: "SIGHUP", words: ["wait"], signal: "SIGHUP" as const },
    {
      end: "SIGINT, which a listener of the program handles",
      words: ["wait", "listen"],
      signal: "SIGINT" as const,
    },
  ])("ends with its process, which ends by $end", async ({ words, signal }) => {
    const program = fileURLToPath(new URL("support/runtime-process.ts", import.meta.url));
    const child = spawn(process.execPath, [program, temporaryFolder(), ...words], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    const lines = text(child.stdout);
    if (signal !== undefined) {
      await once(child.stdout, "data");
      child.kill(signal);
    }
    await exited;
    const runtime = JSON.parse(await lines) as ProcessIdentity;
    await expect.poll(() => isAlive(runtime), { timeout: 60_000 }).toBe(false);
  });
});
