/** The command `ledge dev`. */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startDev } from "../../dist/index.js";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import {
  waitForAnswer,
  DevProcess,
  ledge,
  ledgeDev,
  waitOptions,
  createProject,
  write,
} from "../support/dev-process.ts";
import { s3ClientOf } from "../s3/support/served-s3.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { blobFiles } from "../support/store.ts";

/** PUT stores a body, and GET returns it; GET without a key returns the number of objects. */
const script = (greeting = "hello"): string => `
  export default {
    async fetch(request: Request, env: any): Promise<Response> {
      const key = new URL(request.url).pathname.slice(1);
      if (request.method === "PUT") return Response.json(await env.PHOTOS.put(key, request.body));
      if (key !== "") return new Response((await env.PHOTOS.get(key))?.body ?? null);
      const { objects } = await env.PHOTOS.list();
      return Response.json({ greeting: ${JSON.stringify(greeting)}, objects: objects.length });
    },
  };`;

const configuration = {
  name: "photos",
  main: "src/index.ts",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
};

const photos = (more: object = {}): string =>
  createProject({ "wrangler.jsonc": { ...configuration, ...more }, "src/index.ts": script() });

const runRecords = (folder: string): string[] =>
  readdirSync(join(folder, ".wrangler/state/v3/store/runs"));

const photo = bytesOf(300_000);

async function put(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/${key}`, { method: "PUT", body: photo });
  expect(response.status).toBe(200);
}

async function get(url: string, key: string): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(`${url}/${key}`)).arrayBuffer());
}

describe("ledge dev", { timeout: 180_000 }, () => {
  it("answers, prints one block, and leaves no process after an interrupt", async () => {
    const folder = photos({ dns: { zones: [{ name: "example.com" }] } });
    const first = ledgeDev(folder);
    const url = await first.url();
    await put(url, "cat");
    expect(blobFiles(join(folder, ".wrangler/state/v3"))).toHaveLength(1);
    expect(runRecords(folder)).toHaveLength(1);
    expect(first.output).toMatch(
      new RegExp(
        [
          "^Ready      http://localhost:\\d+",
          "Explorer   http://localhost:\\d+/\\?token=[0-9a-f]{32}",
          "State      \\.wrangler/state",
          "S3 API     http://localhost:\\d+",
          "  key id   [0-9a-f]{32}",
          "  secret   [0-9a-f]{64}",
          "DNS API    http://127\\.0\\.0\\.1:\\d+/client/v4",
          "  e-mail   dev@ledge\\.local",
          "  key      [0-9a-f]{37}",
          "  zones    example\\.com",
          "DNS        127\\.0\\.0\\.1:\\d+.* \\(UDP and TCP\\)",
          "",
          "Binding +Resource +Mode",
          "env\\.PHOTOS \\(photos\\) +Store Bucket +local",
        ].join("\n"),
      ),
    );

    // A terminal sends the signal to every process of the group.
    process.kill(-first.pid, "SIGINT");
    expect(await first.exited).toBe(130);
    await first.processesEnd();
    expect(runRecords(folder)).toEqual([]);
    expect(
      existsSync(join(folder, ".wrangler/tmp")) && readdirSync(join(folder, ".wrangler/tmp")),
    ).toEqual([]);
    expect(first.output).not.toMatch(/crash|ended the runtime/i);

    // The second server has the objects, another port, and a key that wrangler does not know.
    write(join(folder, "wrangler.jsonc"), { ...configuration, s3: {}, nonsense: true });
    const taken = await takePort();
    const second = ledgeDev(folder, "--port", String(taken));
    const secondUrl = await second.url();
    expect(sameBytes(await get(secondUrl, "cat"), photo)).toBe(true);
    expect(second.output).toContain(`Port ${taken} is taken: using ${new URL(secondUrl).port}.`);
    expect(second.output).toMatch(
      /wrangler\.jsonc configuration:\s+- Unexpected fields found in top-level field: "nonsense"$/m,
    );
    expect(await second.end("SIGHUP")).toBe(0);
    await second.processesEnd();
    expect(runRecords(folder)).toEqual([]);
  });

  it("prints no error when the terminal interrupts a build", async () => {
    const dev = ledgeDev(photos(), "--no-dns");
    const [bundler = 0] = await vi.waitUntil(
      () => {
        const bundlers = programsOf(dev.pid, "esbuild");
        return bundlers.length > 0 && bundlers;
      },
      { ...waitOptions, interval: 1 },
    );
    // A stopped bundler finishes no build, and receives its signals when it goes on.
    process.kill(bundler, "SIGSTOP");
    process.kill(-dev.pid, "SIGINT");
    process.kill(bundler, "SIGCONT");
    expect(await dev.exited).toBe(130);
    await dev.processesEnd();
    expect(dev.output).toBe("");
  });

  it("ends with npm, if npm runs it", async () => {
    const folder = photos();
    write(join(folder, "package.json"), {
      scripts: {
        start: `"${process.execPath}" "${ledge}" dev --port 0 --no-dns`,
      },
    });
    const npm = new DevProcess("npm", ["start"], folder);
    await npm.url();
    // A process manager sends the signal to npm alone.
    await npm.end("SIGTERM");
    await vi.waitFor(() => expect(npm.hasProcesses()).toBe(false), waitOptions);
    expect(runRecords(folder)).toEqual([]);
  });

  it("follows each change of the configuration file, and no build fails", async () => {
    const folder = createProject({
      "wrangler.jsonc": configuration,
      "src/index.ts": "export default { fetch: (_, env) => new Response(env.EDITION) };",
    });
    const dev = ledgeDev(folder, "--no-dns");
    const url = await dev.url();
    for (let edition = 1; edition <= 10; edition++) {
      write(join(folder, "wrangler.jsonc"), { ...configuration, vars: { EDITION: `${edition}` } });
      await waitForAnswer(url, edition);
    }
    await dev.end("SIGTERM");
    expect(dev.output).not.toMatch(/Build failed|Could not resolve/);
  });

  it("starts the script when its mistakes are mended, reloads a saved source, and keeps the objects", async () => {
    const folder = photos();
    write(join(folder, "src/index.ts"), `throw new Error("not yet");\n${script()}`);
    const dev = ledgeDev(folder, "--no-dns");
    await dev.waitForOutput(/Uncaught Error: not yet\n +at src\/index\.ts:1:7/);
    await dev.waitForOutput(/The script could not be started\.\nWaiting for a change\./);

    write(join(folder, "src/index.ts"), "export default {");
    // wrangler prints the position before or after the sentence, as its build or its watch finds it.
    await dev.waitForOutput(/Expected identifier but found end of file/);
    await dev.waitForOutput(/src\/index\.ts:1:16:/);
    expect(dev.output).not.toMatch(/^Ready/m);

    write(join(folder, "src/index.ts"), script());
    const url = await dev.url();
    await waitForAnswer(url, { greeting: "hello", objects: 0 });
    await put(url, "cat");
    await waitForAnswer(url, { greeting: "hello", objects: 1 });

    const since = dev.output.length;
    write(join(folder, "src/index.ts"), script("good day"));
    await waitForAnswer(url, { greeting: "good day", objects: 1 });
    expect(sameBytes(await get(url, "cat"), photo)).toBe(true);
    await dev.waitForOutput(/^Reloaded\.$/m, since);

    expect(await dev.end("SIGTERM")).toBe(0);
    await dev.processesEnd();
    expect(runRecords(folder)).toEqual([]);
  });

  it("applies a changed configuration, and keeps the previous one while the file has mistakes", async () => {
    // --no-dns leaves DNS out, with its binding.
    const folder = photos({ dns: { binding: "DNS" } });
    const path = join(folder, "wrangler.jsonc");
    write(
      join(folder, "src/index.ts"),
      "export default { fetch: (_, env) => Response.json(Object.keys(env).sort()) };",
    );
    const dev = ledgeDev(folder, "--no-dns");
    const url = await dev.url();
    await waitForAnswer(url, ["PHOTOS"]);
    expect(dev.output).not.toContain("DNS API");
    const s3 = await s3ClientOf(dev);
    const anonymous = { target: "/photos/none", isAnonymous: true };
    expect((await s3.send(anonymous)).code).toBe("InvalidArgument");

    const videos = { binding: "VIDEOS", bucket_name: "videos" };
    const [first] = configuration.store_buckets;
    const credentials = { access_key_id: "some-key", secret_access_key: "some-secret" };
    const rule = { allowed_origins: ["http://page.test"], allowed_methods: ["GET"] };
    const changed = {
      ...configuration,
      store_buckets: [{ ...first, public: true }, videos],
      vars: { COLOUR: "red" },
    };
    let since = dev.output.length;
    write(path, { ...changed, s3: credentials });
    await waitForAnswer(url, ["COLOUR", "PHOTOS", "VIDEOS"]);
    // The API has other credentials and a public bucket, and the same port.
    const next = await s3ClientOf(dev, since, "some-secret");
    expect(dev.output).toMatch(/^ {2}secret   secret_access_key of \[s3\]$/m);
    expect(next.port).toBe(s3.port);
    expect((await s3.send({ target: "/" })).code).toBe("Unauthorized");
    expect((await next.send({ target: "/" })).text).toContain("<Name>videos</Name>");
    expect((await next.send(anonymous)).code).toBe("NoSuchKey");
    // CORS rules and the port, after a save each.
    const page = { ...anonymous, headers: { origin: "http://page.test" } };
    expect((await next.send(page)).headers).not.toHaveProperty("access-control-allow-origin");
    since = dev.output.length;
    write(path, { ...changed, s3: { ...credentials, cors: [rule] } });
    await dev.waitForOutput(/The configuration has changed/, since);
    expect((await next.send(page)).headers).toHaveProperty("access-control-allow-origin");
    await dev.waitForOutput(
      /The configuration has changed\.\nReady [^]*^env\.VIDEOS \(videos\) +Store Bucket +local$/m,
    );

    write(path, { ...configuration, store_buckets: [{ ...videos, bucket_nam: "x" }] });
    await dev.waitForOutput(/wrangler\.jsonc:\d+.*bucket_nam.*did you mean "bucket_name"/);
    await dev.waitForOutput(/The previous configuration stays in use\./);
    expect(dev.output.match(/The configuration has changed/g)).toHaveLength(2);
    await waitForAnswer(url, ["COLOUR", "PHOTOS", "VIDEOS"]);

    write(path, { ...configuration, store_buckets: [videos] });
    await waitForAnswer(url, ["VIDEOS"]);
  });

  it("restarts runtimes and a bundler that were killed, and the buckets keep their objects", async () => {
    const folder = photos({ dns: {} });
    const dev = ledgeDev(folder);
    const url = await dev.url();
    await put(url, "cat");
    // A script that answers before it has the whole body fails a request of wrangler's proxy, and runs on.
    const refused = { method: "PUT", body: bytesOf(3_000_000) };
    for (let count = 0; count < 4; count++) {
      await fetch(`${url}/${"x".repeat(1025)}`, refused).catch(() => {});
    }

    for (let round = 0; round < 2; round++) {
      // The runtimes of the script, of the proxy before it, and of DNS.
      const since = dev.output.length;
      for (const runtime of programsOf(dev.pid, "workerd")) process.kill(runtime, "SIGKILL");
      await dev.waitForOutput(/SIGKILL ended the runtime\. Starting it again\./, since);
      await dev.waitForOutput(/Running again, with the buckets as they were\./, since);
      await waitForAnswer(url, { greeting: "hello", objects: 1 });
    }
    expect(sameBytes(await get(url, "cat"), photo)).toBe(true);

    // Between two builds: only the next build needs the bundler.
    const since = dev.output.length;
    for (const bundler of programsOf(dev.pid, "esbuild")) process.kill(bundler, "SIGKILL");
    await dev.waitForOutput(/SIGKILL ended the bundler\. Starting it again\./, since);
    await dev.waitForOutput(/Running again/, since);
    write(join(folder, "src/index.ts"), script("good day"));
    await waitForAnswer(url, { greeting: "good day", objects: 1 });
    expect(dev.output).not.toContain("Waiting for a change.");
    expect(await dev.end("SIGINT")).toBe(130);
    await dev.processesEnd();
  });

  it("delays every operation by --store-latency", async () => {
    const folder = photos();
    write(
      join(folder, "src/index.ts"),
      `export default {
        async fetch(_, { PHOTOS }) {
          const late = [];
          for (const act of [
            () => PHOTOS.put("key", "value"),
            () => PHOTOS.head("key"),
            () => PHOTOS.get("key"),
            () => PHOTOS.list(),
            () => PHOTOS.createMultipartUpload("key"),
            () => PHOTOS.delete("key"),
          ]) {
            const start = Date.now();
            await act();
            late.push(Date.now() - start >= 290);
          }
          return Response.json(late);
        },
      };`,
    );
    const dev = ledgeDev(folder, "--no-dns", "--store-latency", "300");
    await waitForAnswer(await dev.url(), Array(6).fill(true));
    expect(dev.output).toMatch(/^env\.PHOTOS .* local, 300 ms late$/m);
  });
});

describe("ledge dev with a mistake", { timeout: 180_000 }, () => {
  it("shows the place of a date and of a flag that the runtime refuses, and starts when they are mended", async () => {
    const date = { compatibility_date: "9999-12-31" };
    const folder = photos(date);
    const dev = ledgeDev(folder, "--no-dns");
    await dev.waitForOutput(
      /^wrangler\.jsonc:\d+:\d+: Compatibility date "9999-12-31" is in the future/m,
    );
    const flags = { compatibility_flags: ["nodejs_compta"] };
    write(join(folder, "wrangler.jsonc"), { ...configuration, ...flags });
    await dev.waitForOutput(
      /^wrangler\.jsonc:\d+:\d+: No such compatibility flag: nodejs_compta$/m,
    );
    write(join(folder, "wrangler.jsonc"), configuration);
    await dev.url();
    // The runtime has its own name for the script.
    expect(dev.output).not.toContain("core:user");
    await dev.end("SIGTERM");
  });

  it.each([
    [
      { store_buckets: [{ binding: "PHOTOS" }] },
      [],
      1,
      /wrangler\.jsonc:\d+:\d+: .*bucket_name.* is missing/,
    ],
    [{ main: "src/other.ts" }, [], 3, /no file \S*src\/other\.ts, the main of \S*wrangler\.jsonc/],
    [{}, ["--env", "staging"], 1, /no environment "staging"/],
    [{}, ["--config", "none.toml"], 3, /No configuration file exists at .*none\.toml/],
  ])("exits with a message: %j %j", async (more, args, code, message) => {
    const dev = ledgeDev(photos(more), "--no-dns", ...args);
    expect(await dev.exited).toBe(code);
    expect(dev.output).toMatch(message);
    await dev.processesEnd();
  });

  it.each([
    [["--port", "eighty"], '--port must be a whole number from 0 to 65535, not "eighty".'],
    [["--dns-port", "65536"], '--dns-port must be a whole number from 0 to 65535, not "65536".'],
    [["--store-latency", "-5"], "--store-latency"],
    [["--fault", "dns:dorp:www.example.com"], 'Did you mean "drop"?'],
    [["--var", "NAME"], '--var must be NAME:VALUE, not "NAME".'],
    [["--local-protocol", "ftp"], '--local-protocol must be http or https, not "ftp".'],
    [["--log-level", "loud"], 'log or debug, not "loud".'],
    [["--prot", "1"], "There is no option --prot. Did you mean --port?"],
  ])("refuses %j", async (args, message) => {
    const ran = await runInProcess(photos(), ["dev", ...args]);
    expect(ran).toMatchObject({ code: 2, out: "", error: expect.stringContaining(message) });
  });
});

describe("startDev()", { timeout: 180_000 }, () => {
  it("runs a script for a program, and leaves no run record", async () => {
    const folder = photos();
    const lines: string[] = [];
    const dev = await startDev({
      folder,
      port: 0,
      dns: false,
      log: (text: string) => void lines.push(text),
    });
    onTestFinished(() => dev.stop());
    await dev.ready;
    await waitForAnswer(dev.url, { greeting: "hello", objects: 0 });
    expect(lines.join("\n")).toContain(`Ready      ${dev.url}`);

    await dev.restart();
    await waitForAnswer(dev.url, { greeting: "hello", objects: 0 });

    await dev.stop();
    await dev.stop();
    await expect(fetch(dev.url)).rejects.toThrow("fetch failed");
    expect(runRecords(folder)).toEqual([]);
  });

  it.each([
    [{ port: 65_536 }, "port 65536 is not a port: use 0 to 65535, where 0 is any."],
    [{ storeLatencyMilliseconds: -1 }, "storeLatencyMilliseconds -1 is not a whole number"],
  ])("refuses %j", async (options, message) => {
    await expect(startDev(options)).rejects.toThrow(message);
  });
});

/** A port at which another server listens until the test ends. */
async function takePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The programs of this name that a process has started. */
function programsOf(pid: number, program: string): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return { pid: Number(name), stat: readFileSync(`/proc/${name}/stat`, "utf8") };
      } catch {
        return null;
      }
    });
  return children.flatMap((child) =>
    child !== null && new RegExp(`\\(${program}\\) \\S ${pid} `).test(child.stat)
      ? [child.pid]
      : [],
  );
}
