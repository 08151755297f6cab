/** docs/edge.md: its configuration, and where the URLs of its table lead; and examples/site by its names. */
import { once } from "node:events";
import { cpSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { startDev } from "../../dist/index.js";
import { createProject, waitOptions } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { blocks, read, root } from "./support/pages.ts";

const quiet = {
  port: 0,
  dnsApiPort: 0,
  dnsPort: 0,
  s3: false,
  explorer: false,
  logLevel: "none",
} as const;

/** The port of a dev server on a project. */
async function start(folder: string): Promise<number> {
  const dev = await startDev({ configPath: join(folder, "wrangler.jsonc"), ...quiet, log() {} });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return Number(new URL(dev.url).port);
}

/** Resolvers need not know names below `localhost`, which browsers do. */
async function get(url: string, port: number): Promise<{ status: number; text: string }> {
  const { hostname, pathname } = new URL(url);
  const sent = request({ port, path: pathname, headers: { host: `${hostname}:${port}` } });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

it("the URLs of docs/edge.md lead where its table says", async () => {
  const origin = createServer((_, response) => response.end("origin")).listen(0, "127.0.0.1");
  await once(origin, "listening");
  onTestFinished(() => void origin.close());
  const page = read("docs/edge.md");
  const [settings = ""] = blocks(page, "jsonc");
  const { port: originPort } = origin.address() as AddressInfo;
  const port = await start(
    createProject({
      "wrangler.jsonc": settings.replace('"port": 3000', `"port": ${originPort}`),
      "src/index.ts": `export default {
        async fetch(request: Request, env: { CDN: StoreBucket }) {
          await env.CDN.put("k", "object");
          return new Response("script " + request.url);
        },
      };`,
    }),
  );
  const rows = [...page.matchAll(/^\| `(http:[^`A-Z]+)` +\| (.*?) +\|$/gm)];
  expect(rows.length).toBeGreaterThan(4);
  /** The status and the text at the end of each row: the first request stores the object. */
  const expected = {
    "the script": [200, /^script http:/],
    "the object": [200, /^object$/],
    "the server": [200, /^origin$/],
    "a page: th": [530, /^530 No record new\.example\.com\n/],
  } as const;
  for (const [, url = "", leads = ""] of rows) {
    const [status, answer] = expected[leads.slice(0, 10) as keyof typeof expected];
    expect([url, await get(url, port)]).toEqual([
      url,
      { status, text: expect.stringMatching(answer) as string },
    ]);
  }
  const [, first = ""] = rows[0] ?? [];
  expect((await get(first, port)).text).toBe("script http://photos.example.com/");
});

it(
  "examples/site is served by its script and from its bucket, by their names",
  async () => {
    const folder = createProject({});
    cpSync(join(root, "examples/site"), folder, { recursive: true });
    cpSync(join(root, "examples/http"), join(folder, "../http"), { recursive: true });
    const imported = await runInProcess(folder, ["store", "import", "site", "./site"]);
    expect(imported).toMatchObject({ code: 0 });
    const port = await start(folder);
    const [guide, robots] = ["guide/index.html", "robots.txt"].map((path) =>
      read(`examples/site/site/${path}`),
    );
    const readme = read("examples/site/README.md");
    for (const [, url = ""] of readme.matchAll(/`(http:\/\/[^`]+\.localhost:8787\/[^`]*)`/g)) {
      expect(await get(url, port)).toEqual({ status: 200, text: guide });
    }
    expect(await get("http://files.example.com.localhost/robots.txt", port)).toEqual({
      status: 200,
      text: robots,
    });
    expect((await get("http://files.example.com.localhost/", port)).status).toBe(404);
  },
  waitOptions.timeout,
);
