/** `ledge run` and `ledge open`, and the port of https: programs that reach scripts and public buckets by their names. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startDev, type RunningDev } from "../../dist/index.js";
import { launchProblem } from "../../src/cli/names/client-process.ts";
import { credentials } from "../dns/support/client.ts";
import { ledge, write } from "../support/dev-process.ts";
import { DnsProject } from "../support/dns-command.ts";
import { runInProcess, type Ran } from "../support/in-process-command.ts";

const folder = mkdtempSync(join(tmpdir(), "ledge-run-names-"));
const configuration = {
  name: "photos",
  main: "index.js",
  compatibility_date: "2026-08-01",
  routes: ["photos.example.com/*", { pattern: "shop.example.com", custom_domain: true }],
  store_buckets: [{ binding: "CDN", bucket_name: "cdn", domains: ["cdn.example.com"] }],
  dns: { https_port: 0, zones: [{ name: "example.com" }] },
};
const script = `
  export default {
    async fetch(request, env) {
      if (request.headers.get("upgrade") === "websocket") {
        const [client, server] = Object.values(new WebSocketPair());
        server.accept();
        server.addEventListener("message", ({ data }) => server.send("echo " + data));
        return new Response(null, { status: 101, webSocket: client });
      }
      const { pathname } = new URL(request.url);
      if (request.method === "PUT") await env.CDN.put(pathname.slice(1), await request.arrayBuffer());
      return new Response("script " + request.url);
    },
  };`;

let dev: RunningDev;
let httpsPort: number;
beforeAll(async () => {
  write(join(folder, "index.js"), script);
  write(join(folder, "wrangler.json"), configuration);
  dev = await startDev({
    configPath: join(folder, "wrangler.json"),
    port: 0,
    dnsPort: 0,
    dnsApiPort: 0,
    s3: false,
    explorer: false,
    logLevel: "none",
    log() {},
  });
  await dev.ready;
  const [, port] = /^ {2}https +https:\/\/localhost:(\d+)/m.exec(await dev.summary()) ?? [];
  httpsPort = Number(port);
});
afterAll(async () => {
  await dev?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function command(
  words: readonly string[],
  { cwd = folder, environment = {} }: { cwd?: string; environment?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [ledge, ...words], { cwd, env });
  const [out, error] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: child.exitCode, out, error };
}

/** The output of a program that must succeed. */
async function run(...words: string[]): Promise<string> {
  const { code, out, error } = await command(["run", "--", ...words]);
  expect(code, `${out}${error}`).toBe(0);
  return out;
}

describe("ledge run", () => {
  it("leads curl to scripts and buckets, by https and http and at any port", async () => {
    const url = "https://photos.example.com/a?b=c";
    expect(await run("curl", "-sS", url)).toBe(`script ${url}`);
    expect(await run("curl", "-sS", "--http1.1", url)).toBe(`script ${url}`);
    const plain = "http://shop.example.com";
    expect(await run("curl", "-sS", `${plain}:8080/`)).toBe(`script ${plain}/`);
    expect(await run("curl", "-sS", "--proxytunnel", plain)).toBe(`script ${plain}/`);
    const file = join(folder, "index.js");
    const put = ["-H", "Expect: 100-continue", "-T", file, "https://shop.example.com/index.js"];
    expect(await run("curl", "-sS", ...put)).toContain("script");
    expect(await run("curl", "-sS", "https://cdn.example.com/index.js")).toBe(script);
    expect(await run("curl", "-sS", "-r", "3-8", "http://cdn.example.com/index.js")).toBe("export");
  });

  it("leads Node's fetch and WebSocket", async () => {
    const program = `
      const response = await fetch("https://photos.example.com/node", { method: "POST", body: "x" });
      console.log(await response.text(), await (await fetch("http://photos.example.com/")).text());
      const socket = new WebSocket("wss://photos.example.com/");
      socket.onopen = () => socket.send("hello");
      socket.onmessage = ({ data }) => { console.log(data); socket.close(); };`;
    expect(await run(process.execPath, "--input-type=module", "-e", program)).toBe(
      "script https://photos.example.com/node script http://photos.example.com/\necho hello\n",
    );
  });

  it("leads Python", async () => {
    const program =
      "import urllib.request as u\n" +
      "for url in 'https://photos.example.com/py', 'http://photos.example.com/py':\n" +
      "  print(u.urlopen(url).read().decode())";
    expect(await run("python3", "-c", program)).toBe(
      "script https://photos.example.com/py\nscript http://photos.example.com/py\n",
    );
  });

  it("leads git, which clones from a public bucket", async () => {
    const git = (...words: string[]) => execFileSync("git", words, { cwd: folder, stdio: "pipe" });
    write(join(folder, "notes/readme.txt"), "notes\n");
    git("init", "-q", "-b", "main", "notes");
    git("-C", "notes", "add", ".");
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    git("-C", "notes", ...author, "commit", "-q", "-m", "one");
    git("clone", "-q", "--bare", "notes", "served/notes.git");
    git("-C", "served/notes.git", "update-server-info");
    const imported = await runInProcess(folder, ["store", "import", "cdn", "./served"]);
    expect([imported.code, imported.error]).toEqual([0, expect.any(String)]);
    await run("git", "clone", "-q", "https://cdn.example.com/notes.git", "cloned");
    expect(readFileSync(join(folder, "cloned/readme.txt"), "utf8")).toBe("notes\n");
  });

  it("leads to zones and records that a program makes while it runs", async () => {
    const program = `
      const headers = ${JSON.stringify({ ...credentials, "content-type": "application/json" })};
      const api = "https://api.cloudflare.com/client/v4/zones";
      const call = async (path, body) => {
        const sent = { method: "POST", headers, body: JSON.stringify(body) };
        return (await (await fetch(api + path, sent)).json()).result;
      };
      const { id } = await call("", { name: "later.example" });
      const page = async () => (await fetch("https://www.later.example/")).text();
      console.log(await page());
      await call("/" + id + "/dns_records", { type: "A", name: "www", content: "127.0.0.7" });
      console.log("---", await page());`;
    const wrapped = `(async () => {${program}})()`;
    const [before, after] = (await run(process.execPath, "-e", wrapped)).split("---");
    expect(before).toContain("www.later.example");
    expect([before?.includes("127.0.0.7"), after?.includes("127.0.0.7")]).toEqual([false, true]);
  });

  it("refuses a name in TLS that leads nowhere, and a name in the request that is another", async () => {
    const to = ["--connect-to", "::photos.example.com:443"];
    const outside = await command(["run", "--", "curl", "-sS", ...to, "https://other.test/"]);
    expect([outside.code, outside.error]).toEqual([35, expect.stringMatching(/unrecognized name/)]);
    const other = ["-w", "%{http_code}", "-H", "Host: cdn.example.com"];
    expect(await run("curl", "-sS", ...other, "https://photos.example.com/")).toMatch(/421$/);
  });

  it("passes other names on, to the proxies of its environment", async () => {
    const program = `
      const { createServer } = require("node:http");
      const { spawn } = require("node:child_process");
      const seen = (request) => console.log(request.method, request.url, request.headers["proxy-authorization"]);
      const proxy = createServer((request, response) => { seen(request); response.end(); });
      proxy.on("connect", (request, socket) => { seen(request); socket.end("HTTP/1.1 403 No\\r\\n\\r\\n"); });
      proxy.listen(0, "127.0.0.1", () => {
        const url = "http://a:b@127.0.0.1:" + proxy.address().port;
        const env = { ...process.env, http_proxy: url, HTTPS_PROXY: url };
        const words = ${JSON.stringify([ledge, "run", "--", "curl", "-sS", "http://other.test/a", "https://other.test/"])};
        spawn(process.execPath, words, { env, stdio: "ignore" }).on("exit", () => proxy.close());
      });`;
    const { stdout } = spawn(process.execPath, ["-e", program], { cwd: folder });
    expect(await text(stdout)).toBe(
      "GET http://other.test/a Basic YTpi\nCONNECT other.test:443 Basic YTpi\n",
    );
  });

  const hasHostsFile =
    process.getuid?.() === 0 &&
    launchProblem([{ source: "/etc/hosts", path: "/etc/hosts" }]) === null;

  it.skipIf(!hasHostsFile)("leads a program that ignores the proxy by a hosts file", async () => {
    const direct = ["curl", "-sS", "--noproxy", "*"];
    expect(await run(...direct, "https://photos.example.com/x")).toBe(
      "script https://photos.example.com/x",
    );
    expect(await run(...direct, "http://shop.example.com/")).toBe(
      "script http://shop.example.com/",
    );
  });

  it("says what to start when no dev server runs", async () => {
    const project = new DnsProject({ zones: [{ name: "brief.example" }] });
    onTestFinished(() => project.remove());
    const words = ["run", "--", "curl", "-sS", "-w", "%{http_code}", "https://brief.example/"];
    const { code, out, error } = await command(words, { cwd: project.folder });
    const message = `No dev server runs for brief.example: start "ledge dev" in ${project.folder}.\n`;
    expect([code, out, error]).toEqual([0, `${message}503`, message]);
  });
});

/** The status and the text of a request to the port of https. */
async function ask(
  host: string,
  { headers, path }: { headers?: Record<string, string>; path?: string } = {},
): Promise<{ status: number | undefined; text: string }> {
  const ca = readFileSync(join(folder, ".wrangler/state/v3/dns/https/authority.pem"));
  const sent = get({
    host: "127.0.0.1",
    port: httpsPort,
    servername: host,
    ca,
    agent: false,
    headers: { host: `${host}:${httpsPort}`, ...headers },
    path,
  });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
}

describe("the port of https", () => {
  it("serves names below localhost, and the record API", async () => {
    expect(await ask("photos.example.com.localhost", { path: "/a" })).toEqual({
      status: 200,
      text: "script https://photos.example.com/a",
    });
    expect(await ask("www.example.com.localhost")).toMatchObject({ status: 530 });
    const path = "/client/v4/zones";
    const { status, text: zones } = await ask("localhost", { path, headers: credentials });
    expect([status, zones]).toEqual([200, expect.stringContaining("example.com")]);
  });

  it("has no certificate for other names, also for those of zones", async () => {
    await expect(ask("photos.example.com")).rejects.toThrow(/does not match/);
    await expect(ask("other.test")).rejects.toThrow(/does not match/);
  });

  it("refuses a request whose name is not that of its connection", async () => {
    const headers = { host: "cdn.example.com.localhost" };
    expect(await ask("photos.example.com.localhost", { headers })).toMatchObject({ status: 421 });
  });
});

describe("ledge open", () => {
  it("says what to do without a browser", async () => {
    const { code, error } = await command(["open", "photos.example.com"], {
      environment: { PATH: folder },
    });
    expect(code).toBe(1);
    const { port } = new URL(dev.url);
    expect(error).toContain(`http://photos.example.com.localhost:${port}/`);
  });

  it("says what to do without a dev server, or with no name", async () => {
    const project = new DnsProject();
    onTestFinished(() => project.remove());
    const { code, error } = await command(["open", "x.example"], { cwd: project.folder });
    expect([code, error]).toEqual([1, expect.stringContaining('start "ledge dev"')]);
    expect((await command(["open", "a b"])).code).toBe(2);
  });

  it("gives the browser a profile, which ends with the browser, and the browser's exit code", async () => {
    const browser = join(folder, "browser.sh");
    write(browser, `#!/bin/sh\nls -d "\${1#--user-data-dir=}"; echo "$@" >&2; exit 7\n`);
    execFileSync("chmod", ["+x", browser]);
    const words = ["open", "http://cdn.example.com/k", "--browser", browser];
    const { code, error } = await command(words);
    const [, profile = ""] = /--user-data-dir=(\S+)/.exec(error) ?? [];
    expect([code, error]).toEqual([7, expect.stringMatching(/ http:\/\/cdn\.example\.com\/k\n$/)]);
    expect(() => readFileSync(profile)).toThrow(/ENOENT/);
    const far = await command(["open", "other.test", "--browser", browser]);
    expect(far.error).toContain("No route, public bucket or zone has the name other.test");
  });
});
