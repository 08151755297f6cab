/** `ledge/vite` in projects outside of the repository: the project of examples/vite, and variants of it. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { DevProcess } from "../support/dev-process.ts";
import { openExplorerLink } from "../support/explorer-access.ts";
import { makeProject, runVitest, type Project } from "./support/packed-project.ts";

const example = fileURLToPath(new URL("../../examples/vite", import.meta.url));
const exampleFiles = Object.fromEntries(
  ["wrangler.jsonc", "index.html", "src/page.ts", "worker/index.ts", "test/notes.test.ts"].map(
    (name) => [name, readFileSync(join(example, name), "utf8")],
  ),
);
const configuration = parse(String(exampleFiles["wrangler.jsonc"])) as Record<string, unknown>;
const without = { NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", NODE_ENV: "" };

/** The files of docs/vite.md: `vite.config.ts` alone and with tests, and `wrangler.jsonc`. */
const page = readFileSync(new URL("../../docs/vite.md", import.meta.url), "utf8");
const [plainConfig, documentedConfiguration, configWithTests] = Array.from(
  page.matchAll(/^```\w+\n\/\/ (?:vite\.config\.ts|wrangler\.jsonc)\n([^]*?)^```$/gm),
  ([, text]) => text as string,
) as [string, string, string];

/** The file of the page, with options. Other processes may have the ports of the defaults. */
function viteConfig(options = "", text = plainConfig): string {
  return text.replace(
    "ledge()",
    `ledge({ inspectorPort: false, explorerPort: 0, s3Port: 0, ${options} })`,
  );
}

function viteProject(
  changed: Readonly<Record<string, string>> = {},
  options?: { without: readonly string[] },
): Project {
  return makeProject({ ...exampleFiles, "vite.config.ts": viteConfig(), ...changed }, options);
}

/** Runs a program of the project to its end, and returns its output. */
async function run({ folder }: Project, program: string, args: string[], environment = {}) {
  const env = { ...process.env, ...without, ...environment };
  const path = join(folder, "node_modules", program);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...args], {
    cwd: folder,
    env,
  });
  return `${stdout}${stderr}`;
}

interface RunningVite {
  readonly process: DevProcess;
  readonly url: string;
  readonly explorerUrl: string;
  readonly s3: S3TestClient;
}

/** Starts `vite` or `vite preview`, and reads the addresses that the process prints. */
async function startVite({ folder }: Project, args: string[] = [], environment = {}) {
  const vite = join(folder, "node_modules/vite/bin/vite.js");
  const words = [vite, ...args, "--port", "0"];
  const server = new DevProcess(process.execPath, words, folder, { ...without, ...environment });
  const [, url] = await server.waitForOutput(/Local: +(http:\S+)\/\s/);
  const [, explorerUrl] = await server.waitForOutput(/Explorer: (\S+)\s/);
  const [, s3Port, accessKeyId, secretAccessKey] = await server.waitForOutput(
    /S3 API: +http:\/\/localhost:(\d+)\s+key id (\w+), secret (\w+)\s/,
  );
  const credentials = { accessKeyId, secretAccessKey } as never;
  const s3 = new S3TestClient({ port: Number(s3Port), credentials });
  return { process: server, url, explorerUrl, s3 } as RunningVite;
}

/** What the explorer says of the project, or at another path. */
async function explore({ explorerUrl }: RunningVite, path = "project"): Promise<unknown> {
  const { address, cookie } = await openExplorerLink(explorerUrl);
  return (await fetch(`${address}/api/${path}`, { headers: { cookie } })).json();
}

const buckets = (name: string) => [{ binding: "NOTES", bucket_name: name }];
const put = (url: string, name: string, body: string) =>
  fetch(`${url}/notes/${name}`, { method: "PUT", body });
const get = async (url: string, name: string) => (await fetch(`${url}/notes/${name}`)).text();

describe("vite", () => {
  it("serves the buckets, the explorer and the S3-compatible API, also after a restart", async () => {
    const r2 = [...buckets("notes"), { binding: "LOGS", bucket_name: "logs" }];
    const dns = { binding: "DNS", port: 0, api_port: 0, zones: [{ name: "example.com" }] };
    const withLogs = { ...configuration, r2_buckets: r2, dns };
    const project = viteProject({ "wrangler.jsonc": JSON.stringify(withLogs) });
    const vite = await startVite(project);
    expect(vite.process.output).toContain(
      "wrangler's simulator serves LOGS of r2_buckets. ledge({ adopt: true }) serves them by the store",
    );
    await put(vite.url, "milk", "two bottles");
    expect(await get(vite.url, "milk")).toBe("two bottles");
    expect(await get(vite.url, "bread")).toBe("No such note");
    expect(await (await fetch(vite.url)).text()).toContain("<h1>Notes</h1>");
    expect((await vite.s3.send({ target: "/notes/milk" })).text).toBe("two bottles");
    expect(await explore(vite)).toMatchObject({ scriptUrl: `${vite.url}/` });
    expect(await explore(vite, "dns/zones")).toMatchObject({ result: [{ name: "example.com" }] });
    // The configuration may have keys of remotes.
    expect((await fetch(`${vite.url}/wrangler.jsonc?raw`)).status).toBe(403);

    let since = vite.process.output.length;
    const changed = { ...configuration, store_buckets: buckets("others") };
    project.write("wrangler.jsonc", JSON.stringify(changed));
    await vite.process.waitForOutput(/server restarted/, since);
    await put(vite.url, "milk", "three bottles");
    expect((await vite.s3.send({ target: "/others/milk" })).text).toBe("three bottles");
    expect(await explore(vite)).toMatchObject({ scriptUrl: `${vite.url}/` });

    since = vite.process.output.length;
    project.write("wrangler.jsonc", JSON.stringify({ ...configuration, store_buckets: [{}] }));
    await vite.process.waitForOutput(/wrangler\.jsonc:1:\d+: .*\n.*server restart failed/, since);
    expect(await get(vite.url, "milk")).toBe("three bottles");

    expect(vite.process.output).not.toMatch(/Unexpected fields|unsafe|\.ledge-/);
    expect(readdirSync(project.folder).filter((name) => name.startsWith(".ledge-"))).toEqual([]);
    await vite.process.end();
    await vite.process.processesEnd();
  });

  it("adopts r2_buckets of all scripts, in the environment of CLOUDFLARE_ENV", async () => {
    const counter = {
      name: "counter",
      main: "index.ts",
      compatibility_date: "2026-08-01",
      r2_buckets: buckets("notes-staging"),
    };
    const { store_buckets: _, ...deployed } = configuration;
    const project = viteProject({
      "vite.config.ts": viteConfig(
        'adopt: true, persistState: { path: "state" }, auxiliaryWorkers: [{ configPath: "counter/wrangler.json" }]',
      ),
      "wrangler.jsonc": JSON.stringify({
        ...deployed,
        env: {
          staging: {
            r2_buckets: buckets("notes-staging"),
            services: [{ binding: "COUNTER", service: "counter-staging" }],
          },
        },
      }),
      "worker/index.ts": String(exampleFiles["worker/index.ts"]).replace(
        'if (name === "") {',
        'if (name === "count") return env.COUNTER.fetch(request);\nif (name === "") {',
      ),
      "counter/wrangler.json": JSON.stringify(counter),
      "counter/index.ts": `export default {
        async fetch(request, env) {
          return new Response(String((await env.NOTES.list()).objects.length));
        },
      };`,
    });
    const vite = await startVite(project, [], { CLOUDFLARE_ENV: "staging" });
    expect(vite.process.output).not.toContain("simulator");
    await put(vite.url, "milk", "two bottles");
    expect(await get(vite.url, "count")).toBe("1");
    expect((await vite.s3.send({ target: "/notes-staging/milk" })).text).toBe("two bottles");
    expect(statSync(join(project.folder, "state/v3/store")).isDirectory()).toBe(true);
    await vite.process.end();
  });

  it("says in one sentence what is wrong, without a stack", async () => {
    const vite = "vite/bin/vite.js";
    const problems = [
      [
        makeProject({ "vite.config.ts": viteConfig() }, { without: ["@cloudflare/vite-plugin"] }),
        /ledge\/vite needs @cloudflare\/vite-plugin, and .* has none\. Install it: npm install/,
      ],
      [
        viteProject({ "wrangler.jsonc": '{ "store_buckets": [{}] }' }),
        /wrangler\.jsonc:1:\d+: store_buckets/,
      ],
      [
        viteProject({ "vite.config.ts": viteConfig("experimental: { newConfig: true }") }),
        /ledge\/vite reads wrangler\.jsonc/,
      ],
    ] as const;
    for (const [project, message] of problems) {
      const failed = await run(project, vite, ["build"]).catch((error: Error) => error.message);
      expect(failed).toMatch(message);
      expect(failed).not.toMatch(/^ +at /m);
    }
  });
});

describe("vite build and vite preview", () => {
  const environments = {
    ...configuration,
    env: {
      staging: {
        store_buckets: buckets("notes-staging"),
        r2_buckets: buckets("notes-staging"),
      },
    },
  };

  it.each([
    ["", "notes"],
    ["staging", "notes-staging"],
  ])("the output can be deployed, and its preview has the store (%s)", async (name, bucket) => {
    const project = viteProject({ "wrangler.jsonc": JSON.stringify(environments) });
    const environment = name === "" ? {} : { CLOUDFLARE_ENV: name };
    const built = await run(project, "vite/bin/vite.js", ["build"], environment);
    expect(built).not.toMatch(/Unexpected fields|\.ledge-/);
    const output = join(project.folder, "dist/notes/wrangler.json");
    const text = readFileSync(output, "utf8");
    const table = JSON.parse(text) as Record<string, unknown>;
    expect(table).toMatchObject({
      configPath: join(project.folder, "wrangler.jsonc"),
      r2_buckets: buckets(bucket),
    });
    expect(Object.keys(table)).not.toContain("store_buckets");
    expect(Object.keys(table)).not.toContain("unsafe");
    const deployed = await run(project, "wrangler/bin/wrangler.js", ["deploy", "--dry-run"]);
    expect(deployed).toMatch(new RegExp(`env\\.NOTES \\(${bucket}\\) +R2 Bucket`));

    const vite = await startVite(project, ["preview"]);
    await put(vite.url, "milk", "two bottles");
    expect(await get(vite.url, "milk")).toBe("two bottles");
    expect(await (await fetch(vite.url)).text()).toContain("<h1>Notes</h1>");
    expect((await vite.s3.send({ target: `/${bucket}/milk` })).text).toBe("two bottles");
    expect(await explore(vite)).toMatchObject({ scriptUrl: `${vite.url}/` });
    expect(vite.process.output).not.toMatch(/Unexpected fields|unsafe|\.ledge-/);
    await vite.process.end();
    expect(readFileSync(output, "utf8")).toBe(text);
    expect(readdirSync(join(project.folder, "dist/notes")).join()).not.toContain(".ledge-");
  });
});

describe("vitest in a project of ledge/vite", () => {
  const files = {
    "vite.config.ts": viteConfig("", configWithTests),
    "wrangler.jsonc": documentedConfiguration,
  };

  it("runs with both plugins in one file", async () => {
    const { status, output } = await runVitest(viteProject(files).folder);
    expect(output).toContain("2 passed");
    expect(status).toBe(0);
  });

  it("does not change Vite, which needs no pool", async () => {
    const project = viteProject(files, { without: ["@cloudflare/vitest-pool-workers"] });
    expect(await run(project, "vite/bin/vite.js", ["build"])).toContain("dist/notes/wrangler.json");
  });
});
