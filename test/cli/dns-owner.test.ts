/** One process owns the zones of a folder. After its end, in whatever way, the next can own them. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDns } from "../../dist/index.js";
import { DnsProject, runDns } from "../support/dns-command.ts";
import { isSameProcessAlive, ownersRuntime } from "../support/processes.ts";

const script = fileURLToPath(new URL("../dns/support/owner-process.ts", import.meta.url));
const waiting = { timeout: 60_000 };
let project: CommandsProject;
let owner: ChildProcess | null = null;

/** A project whose commands are processes, each with its own end. */
class CommandsProject extends DnsProject {
  override run(...words: string[]) {
    return runDns(this.folder, words);
  }
}

beforeEach(() => {
  project = new CommandsProject({ zones: [{ name: "example.org" }] });
});
afterEach(async () => {
  if (owner !== null) await killOwner();
  project.remove();
});

/** Resolves to the URL of the owner's API. */
async function startOwner(): Promise<{ url: string }> {
  owner = spawn(process.execPath, [script, project.folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(owner.stdout!, "data")) as [Buffer];
  return { url: line.toString().trim() };
}

async function killOwner(): Promise<void> {
  const closed = once(owner!, "exit");
  owner!.kill("SIGKILL");
  owner = null;
  await closed;
}

const zonesFolder = () => join(project.folder, ".wrangler/state/v3/dns");
const recordPath = () => join(zonesFolder(), "owner.json");
const readOwner = () => JSON.parse(readFileSync(recordPath(), "utf8"));
const runtime = () => ownersRuntime(zonesFolder())!;

test("the record names the owner, is private, and exists until the owner stops", async () => {
  const configPath = join(project.folder, "wrangler.json");
  const options = { configPath, port: 0, dnsPort: 0, log: () => {} };
  const running = await startDns(options);
  const record = readOwner();
  expect(record).toMatchObject({
    processId: process.pid,
    isBrief: false,
    addresses: { url: running.url, dns: { host: "127.0.0.1", port: running.dnsPort } },
  });
  // No secret: the folder's socket needs none.
  expect(Object.keys(record.addresses)).toEqual(["url", "dns", "tls"]);
  expect(statSync(recordPath()).mode & 0o777).toBe(0o600);
  expect(runtime()).toBeDefined();
  await expect(startDns(options)).rejects.toThrow(
    `Process ${process.pid} has the zones in ${join(project.folder, ".wrangler/state/v3/dns")} (its API is ${running.url})`,
  );
  // The refused start has changed nothing.
  expect(readOwner()).toEqual(record);
  await running.stop();
  expect(existsSync(recordPath())).toBe(false);
  const second = await startDns(options);
  await second.stop();
  expect(existsSync(recordPath())).toBe(false);
});

test("after kill -9 of the owner, a command waits for the runtime's end and has all records", async () => {
  const { url } = await startOwner();
  const acknowledged: string[] = [];
  const writing = writeRecords(url, (name) => acknowledged.push(name));
  await expect.poll(() => acknowledged.length, waiting).toBeGreaterThan(20);
  expect(readOwner().processId).toBe(owner!.pid);
  const left = runtime();
  await killOwner();
  await listNames();
  await writing;
  expect(isSameProcessAlive(left)).toBe(false);
  const listed = await listNames();
  expect(acknowledged.filter((name) => !listed.includes(`${name}.example.org`))).toEqual([]);
  expect(existsSync(recordPath())).toBe(false);

  await startOwner();
  expect(readOwner().processId).toBe(owner!.pid);
  await project.ok("add", "example.org", "after", "A", "192.0.2.2");
  expect(await listNames()).toHaveLength(listed.length + 1);
});

test("after kill -9 of the owner, an orphan runtime that was stopped does not come back", async () => {
  await startOwner();
  await project.ok("add", "example.org", "before", "A", "192.0.2.1");
  const left = runtime();
  process.kill(left.processId, "SIGSTOP");
  await killOwner();
  expect(await project.ok("list", "example.org")).toBe("before.example.org  auto  A  192.0.2.1\n");
  expect(isSameProcessAlive(left)).toBe(false);
});

test("a command reports an owner that does not answer, and leaves its zones alone", async () => {
  await startOwner();
  const { processId } = runtime();
  process.kill(processId, "SIGSTOP");
  try {
    const ran = await project.run("zones");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.error).toContain(`Process ${owner!.pid} has the zones in `);
    expect(ran.error).toContain("does not answer. Stop the process and try again.");
    expect(readOwner().processId).toBe(owner!.pid);
  } finally {
    process.kill(processId, "SIGCONT");
  }
  expect(await project.json("zones")).toHaveLength(1);
});

test("the socket leads to the new runtime after a crash of the runtime", async () => {
  await startOwner();
  const before = readOwner();
  const crashed = runtime();
  process.kill(crashed.processId, "SIGKILL");
  await expect
    .poll(() => runtime()?.processId ?? crashed.processId, waiting)
    .not.toBe(crashed.processId);
  const next = runtime();
  expect(readOwner()).toEqual(before);
  expect(await project.json("zones")).toHaveLength(1);
  await killOwner();
  expect(await project.json("zones")).toHaveLength(1);
  expect(isSameProcessAlive(next)).toBe(false);
});

test("a killed command does not block the next command", async () => {
  // The command owns the zones while it waits for an answer that never comes.
  const { command, exited, silent } = await startWaitingCommand();
  expect(readOwner().isBrief).toBe(true);
  const left = runtime();
  command.kill("SIGKILL");
  await exited;
  silent.close();
  expect(await project.ok("list", "example.org")).toBe("");
  expect(isSameProcessAlive(left)).toBe(false);
});

test("a command gives the zones up to a server that starts, and is its client then", async () => {
  const { command, exited, silent } = await startWaitingCommand();
  expect(readOwner()).toMatchObject({ processId: command.pid, isBrief: true });
  await startOwner();
  expect(readOwner()).toMatchObject({ processId: owner!.pid, isBrief: false });
  expect(command.exitCode).toBeNull();
  expect(await project.json("zones")).toHaveLength(1);
  silent.close();
  command.kill("SIGKILL");
  await exited;
});

async function listNames(): Promise<string[]> {
  const lines = (await project.ok("list", "example.org")).trimEnd().split("\n");
  return lines.map((line) => line.split(" ")[0] as string);
}

/** `ledge dns import` from a name server that does not answer. */
async function startWaitingCommand() {
  const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
  const silent = createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const words = ["dns", "import", "example.org", "--from", `127.0.0.1:${port}`];
  const command = spawn(process.execPath, [cli, ...words], { cwd: project.folder });
  const exited = once(command, "exit");
  await once(silent, "connection");
  return { command, exited, silent };
}

/** Adds one record after the other until the server ends. */
async function writeRecords(url: string, onAcknowledged: (name: string) => void): Promise<void> {
  const headers = {
    "x-auth-email": "dev@ledge.local",
    "x-auth-key": "0123456789abcdef0123456789abcdef01234",
    "content-type": "application/json",
  };
  try {
    const zones = (await (await fetch(`${url}/zones`, { headers })).json()) as {
      result: { id: string }[];
    };
    for (let n = 0; ; n++) {
      const name = `record-${n}`;
      const response = await fetch(`${url}/zones/${zones.result[0]?.id}/dns_records`, {
        method: "POST",
        headers,
        body: JSON.stringify({ type: "A", name, content: "192.0.2.1" }),
      });
      if (response.ok) onAcknowledged(name);
    }
  } catch {
    // The server has ended.
  }
}
