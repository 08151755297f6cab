/** Of all processes one has the zones of a folder; however it ends, the next can have them. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startDns } from "../../dist/index.js";
import { Project } from "../support/dns-command.ts";

const script = fileURLToPath(new URL("../dns/support/owner-process.ts", import.meta.url));
let project: Project;
let owner: ChildProcess | null = null;

beforeEach(() => {
  project = new Project({ zones: [{ name: "example.org" }] });
});
afterEach(async () => {
  if (owner !== null) await killOwner();
  // Ends a runtime that a test has left.
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

const notePath = () => join(project.folder, ".wrangler/state/v3/dns/running.json");
const readRunRecord = () => JSON.parse(readFileSync(notePath(), "utf8"));

function isThere(processId: number): boolean {
  try {
    process.kill(processId, 0);
    // One that has ended stays until it is asked for.
    return !/\) Z /.test(readFileSync(`/proc/${processId}/stat`, "utf8"));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" && process.platform !== "linux";
  }
}

test("the note says who has the zones, to nobody else, until it stops", async () => {
  const configPath = join(project.folder, "wrangler.json");
  const options = { configPath, port: 0, dnsPort: 0, log: () => {} };
  const running = await startDns(options);
  const note = readRunRecord();
  expect(note).toMatchObject({
    processId: process.pid,
    brief: false,
    addresses: {
      url: running.url,
      dns: { host: "127.0.0.1", port: running.dnsPort },
      email: "dev@ledge.local",
    },
  });
  expect(statSync(notePath()).mode & 0o777).toBe(0o600);
  expect(isThere(note.runtimeProcessId)).toBe(true);
  await expect(startDns(options)).rejects.toThrow(
    `Process ${process.pid} has the zones in ${join(project.folder, ".wrangler/state/v3/dns")} (its API is ${running.url})`,
  );
  // The one that was refused has taken nothing away.
  expect(readRunRecord()).toEqual(note);
  await running.stop();
  expect(existsSync(notePath())).toBe(false);
  const again = await startDns(options);
  await again.stop();
  expect(existsSync(notePath())).toBe(false);
});

test("after kill -9 a command has the zones, and ends the runtime that was left", async () => {
  await startOwner();
  await project.ok("add", "example.org", "before", "A", "192.0.2.1");
  const { runtimeProcessId, processId } = readRunRecord();
  expect(processId).toBe(owner!.pid);
  await killOwner();
  expect(readRunRecord().processId).toBe(processId);
  expect(isThere(runtimeProcessId)).toBe(true);

  expect(await project.ok("list", "example.org")).toBe("before.example.org  auto  A  192.0.2.1\n");
  expect(isThere(runtimeProcessId)).toBe(false);
  expect(existsSync(notePath())).toBe(false);

  await startOwner();
  expect(readRunRecord().processId).toBe(owner!.pid);
  await project.ok("add", "example.org", "after", "A", "192.0.2.2");
  expect(await project.ok("list", "example.org")).toContain("before.example.org");
});

test("an owner that does not answer is named, and its zones are left alone", async () => {
  await startOwner();
  const { runtimeProcessId, addresses } = readRunRecord();
  process.kill(runtimeProcessId, "SIGSTOP");
  try {
    const ran = await project.run("zones");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.error).toContain(`Process ${owner!.pid} has the zones in `);
    expect(ran.error).toContain(`does not answer at ${addresses.url}. Stop it, and try again.`);
    expect(readRunRecord().processId).toBe(owner!.pid);
  } finally {
    process.kill(runtimeProcessId, "SIGCONT");
  }
  expect(await project.json("zones")).toHaveLength(1);
});

test("the note follows a runtime that is started anew", async () => {
  await startOwner();
  const before = readRunRecord();
  process.kill(before.runtimeProcessId, "SIGKILL");
  await expect.poll(() => readRunRecord().runtimeProcessId).not.toBe(before.runtimeProcessId);
  const { runtimeProcessId, ...after } = readRunRecord();
  expect({ ...after, runtimeProcessId: before.runtimeProcessId }).toEqual(before);
  await killOwner();
  expect(await project.json("zones")).toHaveLength(1);
  expect(isThere(runtimeProcessId)).toBe(false);
});

test("a command that is killed leaves nothing that stops the next", async () => {
  const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
  // It has the zones while it waits for an answer that does not come.
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
  expect(isThere(runtimeProcessId)).toBe(false);
});
