/**
 * Who can reach what: every port that the processes of this package listen on, against a table of
 * what each accepts; secrets in output, arguments and memory; the modes of files.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { truncateSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProject, ledgeDev, type DevProcess } from "../support/dev-process.ts";
import { credentials } from "../dns/support/client.ts";
import { startTestDns } from "../dns/support/running-dns.ts";
import { StoreProject } from "../support/store-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { accessTable, probe, roleOf, type KnownPorts, type Role } from "./support/access-table.ts";
import { heapSnapshot } from "./support/inspector.ts";
import { sendRaw } from "./support/raw-http.ts";
import { hasProc, processTreeIds } from "../support/processes.ts";
import { listeningSockets } from "./support/listening-sockets.ts";

const script = `export default { fetch: () => new Response("script") };`;

async function start(what: string): Promise<{ pid: number; known: KnownPorts }> {
  const program = fileURLToPath(new URL("support/access-program.ts", import.meta.url));
  const child = spawn(process.execPath, [program, what, temporaryFolder()], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('{"ports"'))
      return { pid: child.pid as number, known: (JSON.parse(line) as { ports: KnownPorts }).ports };
  }
  throw new Error(`${what} did not start.`);
}

/** The roles of all ports of a process tree. Each must be in the table, and do what the table says. */
async function checkPorts(pid: number, known: KnownPorts): Promise<Role[]> {
  const roles: Role[] = [];
  const processIds = processTreeIds(pid);
  for (const socket of listeningSockets(pid)) {
    const role = await roleOf(socket, known, processIds);
    expect(role, `${JSON.stringify(socket)} is not in the table`).not.toBeNull();
    roles.push(role!);
    if (socket.transport !== "tcp" || role === "DNS") continue;
    const { path, of, outcomes } = accessTable[role!];
    const observed = await probe(socket.port, path);
    expect({ role, of, ...observed }).toEqual({ role, of, outcomes, corsHeaders: [] });
  }
  return listed(roles);
}

function listed(roles: readonly Role[]): Role[] {
  return [...new Set(roles)].sort();
}

/** A project whose script has a bucket and DNS. */
function scriptProject(dns: object = {}, files: Record<string, string> = {}): string {
  return createProject({
    "wrangler.json": {
      name: "script",
      main: "index.js",
      compatibility_date: "2026-08-01",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      dns: { binding: "DNS", ...dns },
    },
    "index.js": script,
    ...files,
  });
}

async function s3Port(dev: DevProcess): Promise<number> {
  return Number((await dev.waitForOutput(/^S3 API +http:..localhost:(\d+)/m))[1]);
}

async function explorerPort(dev: DevProcess): Promise<number> {
  return Number((await dev.waitForOutput(/^Explorer +http:..localhost:(\d+)/m))[1]);
}

async function apiPort(dev: DevProcess): Promise<number> {
  return Number((await dev.waitForOutput(/DNS API +http:..127.0.0.1:(\d+)/))[1]);
}

describe.skipIf(!hasProc)("every port is in the table, and accepts what the table says:", () => {
  test("ledge dev, with a store and DNS", async () => {
    const dev = ledgeDev(scriptProject({ https_port: 0, tls_port: 0 }));
    const known = {
      script: Number(new URL(await dev.url()).port),
      "S3 API": await s3Port(dev),
      explorer: await explorerPort(dev),
      "record API": await apiPort(dev),
      "record API over https": Number(
        (await dev.waitForOutput(/^ {2}https +https:..localhost:(\d+)/m))[1],
      ),
      DNS: Number((await dev.waitForOutput(/^DNS +127.0.0.1:(\d+)/m))[1]),
      "DNS over TLS": Number((await dev.waitForOutput(/^DNS +127.0.0.1:(\d+).*\(TLS\)$/m))[1]),
    };
    expect(await checkPorts(dev.pid, known)).toEqual([
      "DNS",
      "DNS over TLS",
      "Miniflare's entry to the script",
      "Miniflare's loopback",
      "S3 API",
      "Unix socket",
      "edge worker",
      "explorer",
      "publications",
      "record API",
      "record API over https",
      "script",
      "workerd's debug port",
    ]);
    const dnsOverHttps = accessTable["DNS over HTTPS"];
    const observed = await probe(known["record API"], dnsOverHttps.path);
    expect(observed).toEqual({ outcomes: dnsOverHttps.outcomes, corsHeaders: [] });
  });

  test("ledge dev with an inspector that was asked for, and no secret in its heaps", async () => {
    const dns = {
      key: "canary-key-of-the-configuration",
      tokens: [{ token: "canary-token-of-the-configuration" }],
      keys: [{ name: "to-secondary", secret: "Y2FuYXJ5LXNlY3JldC1vZi1UU0lH" }],
    };
    const marked = `globalThis.marker = "in-the-heap-of-" + "the-script"; ${script}`;
    const dev = ledgeDev(scriptProject(dns, { "index.js": marked }), "--inspector-port", "0");
    const known = {
      script: Number(new URL(await dev.url()).port),
      "wrangler's inspector": Number((await dev.waitForOutput(/^Inspector +\S+:(\d+)/m))[1]),
      "S3 API": await s3Port(dev),
      explorer: await explorerPort(dev),
      "record API": await apiPort(dev),
      DNS: Number((await dev.waitForOutput(/^DNS +127.0.0.1:(\d+)/m))[1]),
    };
    expect((await fetch(await dev.url())).status).toBe(200);
    const roles = await checkPorts(dev.pid, known);
    expect(roles).toContain("workerd's inspector");
    expect(roles).toContain("wrangler's inspector");

    const processIds = processTreeIds(dev.pid);
    for (const socket of listeningSockets(dev.pid)) {
      if ((await roleOf(socket, known, processIds)) !== "workerd's inspector") continue;
      const heap = await heapSnapshot(socket.port, "core:user:script");
      expect(heap).toContain("in-the-heap-of-the-script");
      const buckets = await heapSnapshot(socket.port, "core:user:ledge-store");
      for (const secret of ["canary-", dns.keys[0]!.secret]) {
        expect(heap).not.toContain(secret);
        expect(buckets).not.toContain(secret);
      }
    }
  });

  test.each<[string, Role[]]>([
    ["dns", ["DNS", "Unix socket", "publications", "record API"]],
    [
      "miniflare",
      [
        "Miniflare's entry to the script",
        "Miniflare's loopback",
        "Unix socket",
        "workerd's debug port",
      ],
    ],
    [
      "platform proxy",
      [
        "Miniflare's entry without a script",
        "Miniflare's loopback",
        "Unix socket",
        "workerd's debug port",
      ],
    ],
  ])("%s", async (what, roles) => {
    const { pid, known } = await start(what);
    expect(await checkPorts(pid, known)).toEqual(roles);
  });

  test("the runtime of a ledge store command", async () => {
    const project = new StoreProject();
    const file = project.write("large", "");
    truncateSync(file, 100 * 1024 ** 2);
    const command = project.start("put", "photos/large", file);
    const pid = command.child.pid as number;
    const end = command.end();
    const roles = new Set<Role>();
    /** A server that starts or ends does not answer, so what counts is whether it ever has. */
    const isKnown = new Map<string, boolean>();
    while (command.child.exitCode === null) {
      const processIds = processTreeIds(pid);
      for (const socket of listeningSockets(pid)) {
        const role = await roleOf(socket, {}, processIds);
        if (role !== null) roles.add(role);
        const name = JSON.stringify(socket);
        isKnown.set(name, role !== null || isKnown.get(name) === true);
      }
      await delay(20);
    }
    const unknown = Array.from(isKnown).filter(([, known]) => !known);
    expect(unknown).toEqual([]);
    expect((await end).code).toBe(0);
    expect(listed([...roles])).toEqual(["Unix socket"]);
  });
});

async function startApi(table: object = {}) {
  const dns = await startTestDns(table as Record<string, unknown>);
  onTestFinished(dns.stop);
  return { ...dns, apiPort: Number(new URL(dns.dns.url).port) };
}

describe("the record API", () => {
  const write = { method: "POST", path: "/client/v4/zones", body: '{"name":"rebound.test"}' };
  const json = { ...credentials, "content-type": "application/json" };

  test("refuses a page that has bound its name to loopback, and says what would allow it", async () => {
    const { apiPort: port, client } = await startApi();
    const reply = await sendRaw(port, { ...write, headers: { ...json, host: "rebound.test" } });
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      403,
      {
        result: null,
        success: false,
        errors: [{ code: 9451, message: expect.stringMatching(/"rebound\.test".*api_hosts/) }],
        messages: [],
      },
    ]);
    const faults = await sendRaw(port, {
      method: "PUT",
      path: "/ledge/faults",
      headers: { ...json, host: "rebound.test:8788" },
      body: '{"faults":[{"status":500}]}',
    });
    expect(faults.status).toBe(403);
    const query = { path: "/dns-query?name=a.test", headers: { host: "rebound.test" } };
    const refused = await sendRaw(port, query);
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("api_hosts")]);
    expect(await client.ok("GET", "/zones")).toEqual([]);
  });

  test("refuses the write of a page of another origin, with the right key", async () => {
    const { apiPort: port, client } = await startApi();
    for (const origin of ["https://evil.example", "null"]) {
      const reply = await sendRaw(port, { ...write, headers: { ...json, origin } });
      expect([reply.status, reply.text]).toEqual([403, expect.stringContaining("api_origins")]);
    }
    expect(await client.ok("GET", "/zones")).toEqual([]);
  });

  test("answers loopback names, configured hosts, and pages of configured origins", async () => {
    const origin = "https://app.example";
    const { apiPort: port } = await startApi({ api_hosts: ["dns.test"], api_origins: [origin] });
    const read = { path: "/client/v4/zones" };
    for (const host of ["localhost", "api.localhost:80", "127.0.0.1", "[::1]:9", "DNS.test:80"])
      expect((await sendRaw(port, { ...read, headers: { ...json, host } })).status).toBe(200);
    const preflight = { origin, "access-control-request-method": "PUT" };
    const granted = await sendRaw(port, { ...read, method: "OPTIONS", headers: preflight });
    expect([granted.status, granted.headers["access-control-allow-origin"]]).toEqual([204, origin]);
    const reply = await sendRaw(port, { ...read, headers: { ...json, origin } });
    expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([200, origin]);
    const other = await sendRaw(port, {
      ...read,
      headers: { ...json, origin: "http://localhost" },
    });
    expect([other.status, other.headers["access-control-allow-origin"]]).toEqual([200, undefined]);
  });
});
