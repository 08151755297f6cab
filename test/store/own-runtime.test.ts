/** A runtime that Ledge starts without Miniflare. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { OwnRuntime } from "../../src/state/own-runtime.ts";
import { isAlive, ownConfigName, type ProcessIdentity } from "../../src/base/processes.ts";
import { temporaryFolder } from "../support/store.ts";

function configOf(path: string, script: string, bindings: Record<string, string> = {}) {
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
    sockets: [{ name: "main", path, service: { name: "main" } }],
  };
}

const envScript = "export default { fetch: (_, env) => Response.json(env) };";

async function startRuntime(script: string, { bindings = {}, folder = temporaryFolder() } = {}) {
  const processes: ProcessIdentity[] = [];
  const lines: string[] = [];
  let listens = 0;
  const path = join(folder, "socket");
  const runtime = await OwnRuntime.start({
    folder,
    config: configOf(path, script, bindings),
    onStart: (process) => void processes.push(process),
    onListen: () => void listens++,
    onOutput: (line) => void lines.push(line),
  });
  onTestFinished(() => runtime.stop());
  const request = async (): Promise<string> => {
    const [response] = (await once(get({ socketPath: path }), "response")) as [IncomingMessage];
    return text(response);
  };
  return { processes, lines, request, listens: () => listens };
}

describe("the configuration of a runtime", () => {
  it("keeps every text", async () => {
    const examples = ['"quoted" \\ \\n', "line\nline\r\n\t", "\u0000\u001f\u007f", "é € 𝄞 \\u0041"];
    const wellFormed = fc.string({ unit: "binary" }).map((value) => value.toWellFormed());
    const values = [...examples, ...fc.sample(wellFormed, 100)];
    const bindings = Object.fromEntries(values.map((value, index) => [`text${index}`, value]));
    const { request } = await startRuntime(envScript, { bindings });
    expect(JSON.parse(await request())).toEqual(bindings);
  });

  it("is in a file of the user while the runtime starts, and in no file afterwards", async () => {
    const folder = temporaryFolder();
    const path = join(folder, ownConfigName);
    let mode = 0;
    const runtime = await OwnRuntime.start({
      folder,
      config: configOf(join(folder, "socket"), envScript, { secret: "secret" }),
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
  it("that is killed starts again", async () => {
    const { processes, listens, request } = await startRuntime(envScript);
    process.kill(processes[0]!.processId, "SIGKILL");
    await expect.poll(listens, { timeout: 60_000 }).toBe(2);
    expect(await request()).toBe("{}");
    expect(processes.map(isAlive)).toEqual([false, true]);
  });

  it("that does not start gives workerd's reason, and leaves nothing", async () => {
    const folder = temporaryFolder();
    const started = startRuntime("export default {", { folder });
    await expect(started).rejects.toThrow(
      /^The runtime \(workerd\) does not start\. [^]*SyntaxError/,
    );
    expect(existsSync(join(folder, ownConfigName))).toBe(false);
  });

  it("passes on what its workers print", async () => {
    const script = `export default { fetch() { console.error("a message"); return new Response(); } };`;
    const { lines, request } = await startRuntime(script);
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
