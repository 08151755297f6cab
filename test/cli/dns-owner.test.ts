/** One process owns the zones of a folder. After its end, in whatever way, the next can own them. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDns } from "../../dist/index.js";
import { DnsProject } from "../support/dns-command.ts";

const script = fileURLToPath(new URL("../dns/support/owner-process.ts", import.meta.url));
let project: DnsProject;
let owner: ChildProcess | null = null;

beforeEach(() => {
  project = new DnsProject({ zones: [{ name: "example.org" }] });
});
afterEach(async () => {
  if (owner !== null) await killOwner();
  // This command ends a runtime that a test has left running.
  await project.run("zones");
  project.remove();
});

async function startOwner(): Promise<void> {
  owner = spawn(process.execPath, [script, project.folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(owner.stdout!, "data");
}

async function killOwner(): Promise<void> {
  const closed = once(owner!, "exit");
  owner!.kill("SIGKILL");
  owner = null;
  await closed;
}

const recordPath = () => join(project.folder, ".wrangler/state/v3/dns/running.json");
const readRunRecord = () => JSON.parse(readFileSync(recordPath(), "utf8"));

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    // A process that has ended stays in the table as a zombie until its parent waits for it.
    return !/\) Z /.test(readFileSync(`/proc/${processId}/stat`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

test("the run record names the owner, is private, and exists until the owner stops", async () => {
  const configPath = join(project.folder, "wrangler.json");
  const options = { configPath, port: 0, dnsPort: 0, log: () => {} };
  const running = await startDns(options);
  const runRecord = readRunRecord();
  expect(runRecord).toMatchObject({
    processId: process.pid,
    brief: false,
    addresses: {
      url: running.url,
      dns: { host: "127.0.0.1", port: running.dnsPort },
      email: "dev@ledge.local",
    },
  });
  expect(statSync(recordPath()).mode & 0o777).toBe(0o600);
  expect(isAlive(runRecord.runtimeProcessId)).toBe(true);
  await expect(startDns(options)).rejects.toThrow(
    `Process ${process.pid} has the zones in ${join(project.folder, ".wrangler/state/v3/dns")} (its API is ${running.url})`,
  );
  // The refused start has changed nothing.
  expect(readRunRecord()).toEqual(runRecord);
  await running.stop();
  expect(existsSync(recordPath())).toBe(false);
  const second = await startDns(options);
  await second.stop();
  expect(existsSync(recordPath())).toBe(false);
});

test("after kill -9 of the owner, a command owns the zones and ends the orphan runtime", async () => {
  await startOwner();
  await project.ok("add", "example.org", "before", "A", "192.0.2.1");
  const { runtimeProcessId, processId } = readRunRecord();
  expect(processId).toBe(owner!.pid);
  await killOwner();
  expect(readRunRecord().processId).toBe(processId);
  expect(isAlive(runtimeProcessId)).toBe(true);

  expect(await project.ok("list", "example.org")).toBe("before.example.org  auto  A  192.0.2.1\n");
  expect(isAlive(runtimeProcessId)).toBe(false);
  expect(existsSync(recordPath())).toBe(false);

  await startOwner();
  expect(readRunRecord().processId).toBe(owner!.pid);
  await project.ok("add", "example.org", "after", "A", "192.0.2.2");
  expect(await project.ok("list", "example.org")).toContain("before.example.org");
});

test("a command reports an owner that does not answer, and leaves its zones alone", async () => {
  await startOwner();
  const { runtimeProcessId, addresses } = readRunRecord();
  process.kill(runtimeProcessId, "SIGSTOP");
  try {
    const ran = await project.run("zones");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.error).toContain(`Process ${owner!.pid} has the zones in `);
    expect(ran.error).toContain(
      `does not answer at ${addresses.url}. Stop the process and try again.`,
    );
    expect(readRunRecord().processId).toBe(owner!.pid);
  } finally {
    process.kill(runtimeProcessId, "SIGCONT");
  }
  expect(await project.json("zones")).toHaveLength(1);
});

test("the run record names the new runtime after a restart", async () => {
  await startOwner();
  const before = readRunRecord();
  process.kill(before.runtimeProcessId, "SIGKILL");
  await expect.poll(() => readRunRecord().runtimeProcessId).not.toBe(before.runtimeProcessId);
  const { runtimeProcessId, ...after } = readRunRecord();
  expect({ ...after, runtimeProcessId: before.runtimeProcessId }).toEqual(before);
  await killOwner();
  expect(await project.json("zones")).toHaveLength(1);
  expect(isAlive(runtimeProcessId)).toBe(false);
});

test("a killed command does not block the next command", async () => {
  const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
  // The command owns the zones while it waits for an answer that never comes.
  const silent = (await import("node:net")).createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  const words = ["dns", "import", "example.org", "--from", `127.0.0.1:${port}`];
  const command = spawn(process.execPath, [cli, ...words], { cwd: project.folder });
  const exited = once(command, "exit");
  await once(silent, "connection");
  const { brief, runtimeProcessId } = readRunRecord();
  expect(brief).toBe(true);
  command.kill("SIGKILL");
  await exited;
  silent.close();
  expect(await project.ok("list", "example.org")).toBe("");
  expect(isAlive(runtimeProcessId)).toBe(false);
});
