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
import { isMarkHeld, makeMark } from "../../src/base/open-mark.ts";
import { ownConfigName } from "../../src/base/programs.ts";
import { markPath } from "../../src/state/owner.ts";
import { findRuntimeProcess, readProcess } from "../support/processes.ts";
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
  let starts = 0;
  const lines: string[] = [];
  let listens = 0;
  const path = join(folder, "socket");
  const runtime = await OwnRuntime.start({
    folder,
    config: configOf(path, script, bindings),
    onStart: () => void starts++,
    onListen: () => void listens++,
    onOutput: (line) => void lines.push(line),
  });
  onTestFinished(() => runtime.stop());
  const request = async (): Promise<string> => {
    const [response] = (await once(get({ socketPath: path }), "response")) as [IncomingMessage];
    return text(response);
  };
  return { folder, lines, request, starts: () => starts, listens: () => listens };
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
    const folder = temporaryFolder();
    makeMark(markPath(folder));
    const { starts, listens, request } = await startRuntime(envScript, { folder });
    const first = findRuntimeProcess(folder);
    process.kill(first, "SIGKILL");
    await expect.poll(listens, { timeout: 60_000 }).toBe(2);
    expect(await request()).toBe("{}");
    expect(starts()).toBe(2);
    expect(readProcess(first)).toBeNull();
    expect(findRuntimeProcess(folder)).not.toBe(first);
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
    { end: "SIGKILL", words: ["wait"], signal: "SIGKILL" as const },
    { end: "SIGTERM", words: ["wait"], signal: "SIGTERM" as const },
    { end: "SIGHUP", words: ["wait"], signal: "SIGHUP" as const },
    {
      end: "SIGINT, which a listener of the program handles",
      words: ["wait", "listen"],
      signal: "SIGINT" as const,
    },
  ])("ends with its process, which ends by $end", async ({ words, signal }) => {
    const program = fileURLToPath(new URL("support/runtime-process.ts", import.meta.url));
    const folder = temporaryFolder();
    makeMark(markPath(folder));
    const child = spawn(process.execPath, [program, folder, ...words], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    expect(line.toString()).toBe("the runtime holds the mark: true");
    if (signal !== undefined) child.kill(signal);
    await exited;
    await expect.poll(() => isMarkHeld(markPath(folder)), { timeout: 60_000 }).toBe(false);
  });
});
