/**
 * Copies of a state folder, and containers that share a folder. In another PID namespace a process id names
 * no process, or another process. So locks and marks tell which processes are alive (`src/state/lock.ts`).
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OwnFolder } from "../../src/state/runs.ts";
import {
  argumentsOf,
  isSameProcessAlive,
  killProcesses,
  waitForEnd,
} from "../support/processes.ts";
import { temporaryFolder } from "../support/store.ts";
import { FaultProcess } from "./support/fault-process.ts";
import { callScript } from "./support/http-call.ts";
import { NodeBucket } from "./support/node-bucket.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import {
  FaultProject,
  ledgeProgram,
  startLedgeDev,
  startMiniflare,
  startWrangler,
  type Tool,
} from "./support/tools.ts";

/** Runs a program as a child of the first process of a container, which goes on after the program's end. */
const unshare = ["unshare", "-rpf", "--kill-child", "--mount-proc", "--"];
const first = ["sh", "-c", '"$@" <&3 & wait; sleep 600', "sh"];
const container = ["sh", "-c", 'exec 3<&0; exec "$@"', "sh", ...unshare, ...first];
const hasContainers = spawnSync("unshare", ["-rpf", "--mount-proc", "--", "true"]).status === 0;

async function put({ url }: Pick<Tool, "url">, key: string, text: string): Promise<void> {
  await callScript(`${url}/${key}`, { method: "PUT", body: Buffer.from(text) });
}

async function get({ url }: Pick<Tool, "url">, key: string): Promise<string> {
  return (await callScript(`${url}/${key}`)).body.toString();
}

/** `ledge store …`, which must succeed. Returns what the command prints. */
async function store({ folder }: FaultProject, ...words: string[]): Promise<string> {
  const command = new FaultProcess([ledgeProgram, "store", ...words], { folder });
  expect([await command.exited, command.output]).toEqual([0, expect.any(String)]);
  return command.output;
}

describe("a copied folder", () => {
  it("has an owner of its own, who does not touch the original", async () => {
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const owner = await startMiniflare(project.persistPath);
    await put(owner, "key", "value");
    const [runtime] = databaseOwners(project.persistPath, "store");
    const copy = join(temporaryFolder(), "backup");
    execFileSync("cp", ["-r", join(project.folder, ".wrangler/state"), copy]);
    expect(await store(project, "list", "photos", "--persist-to", copy)).toContain("key");
    await store(project, "delete", "photos/key", "--persist-to", copy);
    expect(isSameProcessAlive(runtime!)).toBe(true);
    await put(owner, "later", "value");
    expect(await get(owner, "key")).toBe("value");
    expect(monitor.end()).toEqual([]);
  });
});

describe("a killed client", () => {
  it.each([
    { tool: "ledge dev", start: startLedgeDev },
    { tool: "wrangler dev", start: startWrangler },
  ])("$tool leaves no process, and its port is free", async ({ start }) => {
    const project = new FaultProject();
    const owner = await startMiniflare(project.persistPath);
    const client = await start(project);
    await put(client, "key", "value");
    await client.process.killParent();
    expect(await client.process.processesLeft()).toEqual([]);
    // A connection that the system took while it closed the port of the process is reset.
    await expect(get(client, "key")).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
    expect(await get(owner, "key")).toBe("value");
  });
});

describe("a container that shares a folder", () => {
  it("removes no file of a live process of another container", async ({ skip }) => {
    if (!hasContainers) skip("This machine does not allow PID namespaces.");
    const project = new FaultProject();
    const owner = await startMiniflare(project.persistPath);
    await put(owner, "key", "value");
    const client = await NodeBucket.start(project.folder, container);
    const value = Buffer.alloc(700_000, "large").toString("base64");
    const acknowledged: string[] = [];
    const end = new AbortController();
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; !end.signal.aborted; count++) {
        const key = `${writer}-${count % 20}`;
        await client.call({ method: "put", key, body: value });
        acknowledged.push(key);
      }
    };
    const writing = Promise.allSettled([0, 1, 2, 3, 4, 5].map(write));
    for (let round = 0; round < 5; round++) await store(project, "gc");
    end.abort();
    const outcomes = await writing;
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(20);
    for (const key of new Set(acknowledged)) {
      const { body } = await client.call({ method: "get", key });
      expect(body === value, `${key} is whole`).toBe(true);
    }
  });

  it("waits for the runtime that a killed process of another container has left", async ({
    skip,
  }) => {
    if (!hasContainers) skip("This machine does not allow PID namespaces.");
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const owner = await startMiniflare(project.persistPath, { before: container });
    await put(owner, "key", "first");
    const client = await NodeBucket.start(project.folder, container);
    const body = Buffer.from("client").toString("base64");
    await client.call({ method: "put", key: "client", body });
    const hosts = owner.process
      .processes()
      .filter(({ processId }) => argumentsOf(processId)[1]?.endsWith("miniflare-host.ts"));
    expect(hosts).toHaveLength(1);
    const runtimes = owner.process.runtimes();
    expect(runtimes).toHaveLength(1);
    await killProcesses(hosts);
    await client.call({ method: "put", key: "later", body });
    expect(await client.call({ method: "get", key: "key" })).toMatchObject({
      body: Buffer.from("first").toString("base64"),
    });
    expect(await waitForEnd(runtimes)).toEqual([]);
    expect(monitor.end()).toEqual([]);
  });

  it("does not remove the temporary folder of a live process", async ({ skip }) => {
    if (!hasContainers) skip("This machine does not allow PID namespaces.");
    const parent = temporaryFolder();
    const own = new OwnFolder(parent, "tests-");
    const module = new URL("../../src/state/runs.ts", import.meta.url).href;
    const program = `
      import { OwnFolder } from ${JSON.stringify(module)};
      new OwnFolder(${JSON.stringify(parent)}, "tests-").remove();
      console.log("done");`;
    const node = [process.execPath, "--input-type=module-typescript", "-e", program];
    const other = new FaultProcess([...container, ...node]);
    await other.waitForOutput(/^done$/m);
    expect(existsSync(own.path)).toBe(true);
    own.remove();
  });
});
