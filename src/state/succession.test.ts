/** `FolderOwner`, `OwnerLink`, `claimFolder()` and `Succession`: who owns a folder, in this and in other processes. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { claimFolder, Succession } from "./succession.ts";
import { FolderOwner, readOwnerRecord, OwnerLink } from "./owner.ts";
import { newRunId } from "./runs.ts";
import { reserveSocket, socketPath } from "./sockets.ts";
import { identityOf, loopbackArgument } from "../base/processes.ts";

const moduleUrl = (name: string): string => new URL(name, import.meta.url).href;
const waiting = { timeout: 30_000, interval: 10 };
/** A process that has ended. */
const endedProcess = { processId: spawnSync(process.execPath, ["-e", ""]).pid, processStart: "1" };
let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "ledge-owner-")), "state");
});

afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

function take(isBrief = false, onHandover?: () => void): Promise<FolderOwner | null> {
  return FolderOwner.tryTake(folder, { isBrief, onHandover });
}

/** Another process that owns the folder until it ends. */
async function startOwnerProcess(): Promise<ChildProcess> {
  const program = `
    import { FolderOwner } from ${JSON.stringify(moduleUrl("./owner.ts"))};
    await FolderOwner.tryTake(${JSON.stringify(folder)}, { isBrief: false });
    process.stdout.write("taken");
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** A process that looks like a runtime, or like another program. */
async function startProcess(...args: string[]): Promise<ChildProcess> {
  const program = "setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", program, "--", ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

describe("FolderOwner.tryTake()", () => {
  it("makes one of many the owner, and leaves a private record until the release", async () => {
    const owners = await Promise.all(Array.from({ length: 10 }, () => take()));
    const [owner, ...others] = owners.filter((each) => each !== null);
    expect(others).toEqual([]);
    const path = join(folder, "owner.json");
    expect(readOwnerRecord(folder)).toMatchObject({ processId: process.pid, isBrief: false });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    owner?.release();
    expect(existsSync(path)).toBe(false);
    const next = await take();
    // A second release does not touch what the next owner has.
    owner?.release();
    expect(readOwnerRecord(folder)).not.toBeNull();
    expect(await take()).toBeNull();
    next?.release();
  });

  it("believes no record of an earlier owner", async () => {
    mkdirSync(folder);
    // The process runs, but has no lock.
    const record = { ...identityOf(process.pid), isBrief: false, programs: [], earlier: [] };
    for (const text of [JSON.stringify(record), "", "{", "null", '{"processId":"1"}']) {
      writeFileSync(join(folder, "owner.json"), text);
      const owner = await take();
      expect(owner).not.toBeNull();
      owner?.release();
    }
  });

  it("ends the runtimes and the bundler of an earlier owner, and no other program", async () => {
    const runtime = await startProcess(`${loopbackArgument}127.0.0.1:1`);
    // A stopped runtime would go on when it is continued.
    runtime.kill("SIGSTOP");
    const bundler = await startProcess("bin/esbuild", "--service=0.28.1", "--ping");
    const program = await startProcess();
    const reused = await startProcess(`${loopbackArgument}127.0.0.1:2`);
    mkdirSync(folder);
    const programs = [
      identityOf(runtime.pid as number),
      identityOf(bundler.pid as number),
      identityOf(program.pid as number),
      // A later process has the id.
      { processId: reused.pid, processStart: "1" },
    ];
    const record = { ...endedProcess, isBrief: false, programs, earlier: [] };
    writeFileSync(join(folder, "owner.json"), JSON.stringify(record));
    const exits = [runtime, bundler].map((each) => once(each, "exit"));
    const owner = await take();
    const killed = [null, "SIGKILL"];
    expect(await Promise.all(exits)).toEqual([killed, killed]);
    expect([program.exitCode, reused.exitCode]).toEqual([null, null]);
    expect(readFileSync(join(folder, "owner.json"), "utf8")).not.toContain(String(runtime.pid));
    owner?.release();
  });

  it("takes the folder of a process that was killed", async () => {
    const child = await startOwnerProcess();
    expect(await take()).toBeNull();
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    const owner = await take();
    expect(owner).not.toBeNull();
    owner?.release();
  });
});

describe("OwnerLink", () => {
  it("does not connect without an owner", async () => {
    expect(await OwnerLink.connect(folder)).toBeNull();
    mkdirSync(folder);
    expect(await OwnerLink.connect(folder)).toBeNull();
    await reserveSocket(socketPath(folder, "control"));
    expect(await OwnerLink.connect(folder)).toBeNull();
  });

  it("ends when the owner releases the folder, or was killed", async () => {
    const owner = await take();
    const link = await OwnerLink.connect(folder);
    owner?.release();
    await link?.ended;
    const child = await startOwnerProcess();
    const second = await OwnerLink.connect(folder);
    expect(second).not.toBeNull();
    child.kill("SIGKILL");
    await second?.ended;
  });

  it("asks a brief owner for the folder", async () => {
    const asked = Promise.withResolvers<void>();
    const owner = await take(true, asked.resolve);
    const link = await OwnerLink.connect(folder);
    expect(link).not.toBeNull();
    link?.requestHandover();
    await asked.promise;
    owner?.release();
  });

  it("does not ask another owner", async () => {
    const onHandover = vi.fn<() => void>();
    const served = Promise.withResolvers<void>();
    const owner = await FolderOwner.tryTake(folder, {
      isBrief: false,
      onHandover,
      onServiceRequest: served.resolve,
    });
    const link = await OwnerLink.connect(folder);
    link?.requestHandover();
    link?.requestService();
    await served.promise;
    expect(onHandover).not.toHaveBeenCalled();
    link?.close();
    owner?.release();
  });

  it("tells the owner that a client has ended, whose runtime ends then", async () => {
    const owner = await take();
    const link = await OwnerLink.connect(folder);
    const record = join(folder, "runs", newRunId());
    mkdirSync(join(folder, "runs"));
    writeFileSync(record, JSON.stringify(endedProcess));
    link?.close();
    await vi.waitFor(() => expect(existsSync(record)).toBe(false), waiting);
    owner?.release();
  });
});

describe("claimFolder()", () => {
  it("waits until a brief owner gives the folder up, and not for another owner", async () => {
    const brief = await take(true, () => brief?.release());
    const owner = await claimFolder(folder, () => take());
    expect(owner).not.toBeNull();
    expect(await claimFolder(folder, () => take())).toBeNull();
    owner?.release();
  });
});

/** A succession, and whether its service runs. */
class Successor {
  isRunning = false;
  owners = 0;
  failures = 0;
  readonly succession: Succession;

  constructor(isBrief = true) {
    this.succession = new Succession({
      folder,
      take: (onHandover) => take(isBrief, onHandover),
      start: async () => {
        if (this.failures-- > 0) throw new Error("does not start");
        this.isRunning = true;
        return {
          stop: async () => {
            this.isRunning = false;
          },
        };
      },
      onOwner: () => void this.owners++,
    });
    onTestFinished(() => this.succession.stop());
  }
}

describe("Succession", () => {
  it("starts its service when no process owns the folder, and stops it at the end", async () => {
    const successor = new Successor();
    await successor.succession.ready;
    expect(successor.isRunning).toBe(true);
    expect(await take()).toBeNull();
    await successor.succession.stop();
    expect(successor.isRunning).toBe(false);
    (await take())?.release();
  });

  it("takes over when the owner was killed", async () => {
    const child = await startOwnerProcess();
    const successor = new Successor();
    await successor.succession.ready;
    expect(successor).toMatchObject({ isRunning: false, owners: 1 });
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(successor.isRunning).toBe(true), waiting);
  });

  it("gives the folder up to a process that asks, and takes it again later", async () => {
    const successor = new Successor();
    await successor.succession.ready;
    const owner = await claimFolder(folder, () => take());
    expect(owner).not.toBeNull();
    expect(successor.isRunning).toBe(false);
    await vi.waitFor(() => expect(successor.owners).toBe(1), waiting);
    owner?.release();
    await vi.waitFor(() => expect(successor.isRunning).toBe(true), waiting);
  });

  it("makes one of several clients the owner, again and again", async () => {
    let owner = await take();
    const successors = Array.from({ length: 4 }, () => new Successor());
    const running = () => successors.filter(({ isRunning }) => isRunning);
    for (let round = 0; round < 5; round++) {
      owner?.release();
      await vi.waitFor(() => expect(running()).toHaveLength(1), waiting);
      owner = await claimFolder(folder, () => take());
      expect(running()).toEqual([]);
    }
    owner?.release();
  });

  it("tries again when its service does not start", async () => {
    const successor = new Successor();
    successor.failures = 1;
    await expect(successor.succession.ready).rejects.toThrow("does not start");
    expect(successor.succession.failure?.message).toBe("does not start");
    await vi.waitFor(() => expect(successor.isRunning).toBe(true), waiting);
    expect(successor.succession.failure).toBeNull();
  });
});
