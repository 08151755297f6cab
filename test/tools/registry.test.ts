/** Scripts of `ledge dev` and of stock `wrangler dev` call each other. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { createProject, DevProcess, waitOptions } from "../support/dev-process.ts";
import { temporaryFolder } from "../support/store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const ports = ["--port", "0", "--s3-port", "0", "--explorer-port", "0", "--no-dns"];
const tools = {
  ledge: { args: [join(root, "dist/cli.js"), "dev", ...ports], address: /^Ready +(\S+)$/m },
  wrangler: {
    args: [join(root, "node_modules/wrangler/bin/wrangler.js"), "dev", "--port", "0"],
    address: /Ready on (http:\/\/\S+)/,
  },
};

type Tool = keyof typeof tools;

async function start(tool: Tool, folder: string, registry: string) {
  const { args, address } = tools[tool];
  const inspector = tool === "wrangler" ? ["--inspector-port", "0"] : [];
  const environment = { WRANGLER_REGISTRY_PATH: registry };
  const server = new DevProcess(process.execPath, [...args, ...inspector], folder, environment);
  const [, url] = await server.waitForOutput(address);
  return { server, url: url as string };
}

async function waitForText(url: string, expected: string): Promise<void> {
  await vi.waitFor(async () => {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
    expect(await response.text()).toBe(expected);
  }, waitOptions);
}

const peerRows = (state: string) =>
  new RegExp(
    `^env\\.COUNTERS \\(Counter, defined in stock\\) +Durable Object +local \\[${state}\\]\n` +
      `env\\.PEER \\(stock\\) +Worker +local \\[${state}\\]$`,
    "m",
  );
const peerNews = (state: string) =>
  new RegExp(
    `^env\\.COUNTERS \\(Counter, defined in stock\\): local \\[${state}\\]\n` +
      `env\\.PEER \\(stock\\): local \\[${state}\\]$`,
    "m",
  );

/** The answer of `/peer`: the peer's name, and a count that the peer's object keeps. */
const peerAnswer = (peer: string, count: number): string => `${peer} ${count}`;

function peerProject(name: string, peer: string): Readonly<Record<string, string>> {
  const configuration = {
    name,
    main: "index.js",
    compatibility_date: "2026-08-01",
    services: [{ binding: "PEER", service: peer }],
    durable_objects: {
      bindings: [
        { name: "OWN", class_name: "Counter" },
        { name: "COUNTERS", class_name: "Counter", script_name: peer },
      ],
    },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
  };
  return { "wrangler.jsonc": JSON.stringify(configuration), "index.js": script(name) };
}

const script = (name: string) => `
  import { DurableObject } from "cloudflare:workers";
  export class Counter extends DurableObject {
    async fetch() {
      const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
      await this.ctx.storage.put("count", count);
      return new Response(String(count));
    }
  }
  const text = async (response) => (await response).text();
  export default {
    async fetch(request, env) {
      if (new URL(request.url).pathname !== "/peer") return new Response("${name}");
      const object = env.COUNTERS.get(env.COUNTERS.idFromName("one"));
      const peer = await text(env.PEER.fetch("http://peer/"));
      return new Response(peer + " " + (await text(object.fetch("http://object/"))));
    },
  };
`;

describe("ledge dev beside wrangler dev", { timeout: 240_000 }, () => {
  it.each<[Tool, Tool]>([
    ["ledge", "wrangler"],
    ["wrangler", "ledge"],
  ])("%s first: each script calls the other script", async (...order) => {
    const registry = temporaryFolder();
    const folders = {
      ledge: createProject(peerProject("ours", "stock")),
      wrangler: createProject(peerProject("stock", "ours")),
    };
    const started = new Map<Tool, Awaited<ReturnType<typeof start>>>();
    for (const tool of order) started.set(tool, await start(tool, folders[tool], registry));
    const { ledge, wrangler } = Object.fromEntries(started) as Record<
      Tool,
      Awaited<ReturnType<typeof start>>
    >;
    const isLast = order[1] === "ledge";
    expect(ledge.server.output).toMatch(peerRows(isLast ? "connected" : "not connected"));
    await waitForText(`${ledge.url}/peer`, peerAnswer("stock", 1));
    await waitForText(`${wrangler.url}/peer`, peerAnswer("ours", 1));

    const before = ledge.server.output.length;
    await wrangler.server.end("SIGINT");
    await ledge.server.waitForOutput(peerNews("not connected"), before);
    const again = await start("wrangler", folders.wrangler, registry);
    await ledge.server.waitForOutput(peerNews("connected"), before);
    await waitForText(`${ledge.url}/peer`, peerAnswer("stock", 2));
    await again.server.end("SIGINT");
    await ledge.server.end("SIGINT");
  });
});
