/**
 * Stock wrangler with an unsafe binding to DNS, `ledge dev`, and `ledge dns` have the same zones in
 * one folder, in whichever order they start.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProject, DevProcess, ledgeDev, waitOptions } from "../support/dev-process.ts";
import { runDns } from "../support/dns-command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const plugin = { package: join(root, "dist/plugin.js"), name: "dns" };
const zones = [{ name: "example.org" }];

/** GET lists the records of example.org, and POST adds the record that the path names. */
const script = `export default {
  async fetch(request, env) {
    const call = async (path, init) =>
      (await env.DNS.fetch("http://dns/client/v4" + path, init)).json();
    const [{ id }] = (await call("/zones?name=example.org")).result;
    const name = new URL(request.url).pathname.slice(1);
    if (request.method === "POST") {
      return Response.json(await call("/zones/" + id + "/dns_records", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ type: "A", name, content: "192.0.2.1" }),
      }));
    }
    const { result } = await call("/zones/" + id + "/dns_records?per_page=5000");
    return Response.json(result.map(({ name }) => name.replace(".example.org", "")));
  },
};`;

/** The binding of docs/dns.md, with the package of this folder and the zones of this test. */
function documentedBinding(): { unsafe: { bindings: { dev: object }[] } } {
  const page = readFileSync(join(root, "docs/dns.md"), "utf8");
  const [, snippet = ""] = /```jsonc\n\/\/ wrangler\.jsonc\n([^]*?)```/.exec(page) ?? [];
  const config = JSON.parse(snippet.replaceAll(/,(?=\s*[}\]])/g, "")) as {
    unsafe: { bindings: { dev: object }[] };
  };
  const [binding] = config.unsafe.bindings;
  return { unsafe: { bindings: [{ ...binding!, dev: { plugin, options: { zones } } }] } };
}

/** One file serves all tools: `ledge` reads the options of the binding as its [dns] table. */
function dnsProject(): string {
  return createProject({
    "index.mjs": script,
    "wrangler.json": {
      name: "project",
      main: "index.mjs",
      compatibility_date: "2026-08-01",
      ...documentedBinding(),
    },
  });
}

async function startWrangler(folder: string): Promise<{ tool: DevProcess; url: string }> {
  const path = join(root, "node_modules/wrangler/bin/wrangler.js");
  const args = [path, "dev", "--port", "0", "--inspector-port", "0"];
  const tool = new DevProcess(process.execPath, args, folder);
  const [, url] = await tool.waitForOutput(/Ready on (http:\/\/\S+)/);
  return { tool, url: url as string };
}

async function startLedge(folder: string): Promise<{ tool: DevProcess; url: string }> {
  const tool = ledgeDev(folder);
  return { tool, url: await tool.url() };
}

const starts = { "wrangler dev": startWrangler, "ledge dev": startLedge };

async function add(url: string, name: string): Promise<void> {
  const answer = await fetch(`${url}/${name}`, { method: "POST" });
  expect(await answer.json()).toMatchObject({ success: true });
}

const listThrough = async (url: string) => (await (await fetch(url)).json()) as string[];

async function command(folder: string, ...words: string[]): Promise<string> {
  const { code, out, error } = await runDns(folder, words);
  expect(error).toBe("");
  expect(code).toBe(0);
  return out;
}

/** The processes that have a database of zones open: at most the runtime of the owner. */
function openers(folder: string): number[] {
  const databases = join(folder, ".wrangler/state/v3/dns/");
  return readdirSync("/proc")
    .map(Number)
    .filter((id) => Number.isInteger(id) && opensIn(id, databases));
}

function opensIn(processId: number, folder: string): boolean {
  try {
    const maps = readFileSync(`/proc/${processId}/maps`, "utf8");
    return maps.split("\n").some((line) => line.includes(folder) && line.includes(".sqlite"));
  } catch {
    return false;
  }
}

/** Only Linux tells which process has a file open. */
const options = { timeout: 240_000, skip: process.platform !== "linux" };

describe("tools on one folder", options, () => {
  it.each([
    ["wrangler dev", "ledge dev"],
    ["ledge dev", "wrangler dev"],
  ] as const)("%s and then %s have the same zones as ledge dns", async (first, second) => {
    const folder = dnsProject();
    await command(folder, "add", "example.org", "command", "A", "192.0.2.1");
    const one = await starts[first](folder);
    await add(one.url, "first");
    expect(await listThrough(one.url)).toEqual(["command", "first"]);
    const two = await starts[second](folder);
    await add(two.url, "second");
    await command(folder, "add", "example.org", "later", "A", "192.0.2.1");
    const all = ["command", "first", "later", "second"];
    for (const { url } of [one, two]) expect(await listThrough(url)).toEqual(all);
    expect(await command(folder, "list", "example.org")).toContain("second.example.org");
    // The name server of `ledge dev` answers with the records of both.
    expect(await command(folder, "dig", "first.example.org")).toContain("192.0.2.1");
    expect(openers(folder)).toHaveLength(1);

    await one.tool.end("SIGINT");
    expect(await listThrough(two.url)).toEqual(all);
    await two.tool.end("SIGINT");
    await expect
      .poll(() => one.tool.hasProcesses() || two.tool.hasProcesses(), waitOptions)
      .toBe(false);
    expect(openers(folder)).toEqual([]);
    expect(await command(folder, "list", "example.org")).toContain("first.example.org");
  });

  it("the other tool goes on when the owner is killed, with all acknowledged records", async () => {
    const folder = dnsProject();
    const killed = await startLedge(folder);
    const other = await startWrangler(folder);
    const acknowledged: string[] = [];
    const writing = new AbortController();
    const write = async (url: string, prefix: string): Promise<void> => {
      for (let n = 0; !writing.signal.aborted; n++) {
        try {
          await add(url, `${prefix}-${n}`);
        } catch (error) {
          // The killed tool does not answer its own clients.
          if (url === killed.url) return;
          throw error;
        }
        acknowledged.push(`${prefix}-${n}`);
      }
    };
    const writers = [write(killed.url, "killed"), write(other.url, "other")];
    await expect.poll(() => acknowledged.length, waitOptions).toBeGreaterThan(20);
    const before = openers(folder);
    process.kill(killed.tool.pid, "SIGKILL");
    const count = acknowledged.filter((name) => name.startsWith("other")).length;
    // The script of the other tool waits for its process to take over, and needs no restart.
    await expect
      .poll(() => acknowledged.filter((name) => name.startsWith("other")).length, waitOptions)
      .toBeGreaterThan(count + 20);
    writing.abort();
    await Promise.all(writers);
    const listed = new Set(await listThrough(other.url));
    expect(acknowledged.filter((name) => !listed.has(name))).toEqual([]);
    // No write happened twice: the API refuses a second record with the same content.
    const after = openers(folder);
    expect(after).toHaveLength(1);
    expect(before).not.toContain(after[0]);
    await expect.poll(() => killed.tool.hasProcesses(), waitOptions).toBe(false);
    await other.tool.end("SIGINT");
    await expect.poll(() => other.tool.hasProcesses(), waitOptions).toBe(false);
  });
});
