/** `FolderOwner`, `OwnerLink`, `claimFolder()` and `Succession`: who owns a folder, in this and in other processes. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { claimFolder, Succession } from "./succession.ts";
import { fileIdentity, FileLock } from "./lock.ts";
import { FolderOwner, markPath, OwnerLink, readOwnerRecord } from "./owner.ts";
import { newRunId } from "./runs.ts";
import { reserveSocket, socketPath } from "./sockets.ts";
import { isMarkHeld, makeMark, openMark } from "../base/open-mark.ts";

const moduleUrl = (name: string): string => new URL(name, import.meta.url).href;
const waiting = { timeout: 30_000, interval: 10 };
let folder: string;

beforeEach(() => {
  const parent = mkdtempSync(join(tmpdir(), "ledge-owner-"));
  folder = join(parent, "state");
  // Runs after the functions that a test adds: a successor that is not stopped yet makes the folder again.
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
});

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

/** A process that holds the mark of the folder, as a runtime does. */
async function startMarked(): Promise<ChildProcess> {
  const marks = openMark(markPath(folder));
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "ignore", "inherit", ...marks],
  });
  for (const mark of marks) closeSync(mark);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

/** Each look at the clock is a second after the last. */
function hurryClock(): void {
  let now = Date.now();
  const clock = vi.spyOn(Date, "now").mockImplementation(() => (now += 1000));
  onTestFinished(() => clock.mockRestore());
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

  it("believes no record of an earlier owner, and reads none that is not of this folder", async () => {
    mkdirSync(folder);
    const lock = fileIdentity(folder);
    for (const record of [
      JSON.stringify({ processId: process.pid, isBrief: false, lock }),
      "",
      "{",
      "null",
      "[]",
      '{"processId":"1"}',
      '{"processId":1,"programs":7,"earlier":{}}',
    ]) {
      writeFileSync(join(folder, "owner.json"), record);
      expect(readOwnerRecord(folder)).toBeNull();
      const owner = await take();
      expect(owner).not.toBeNull();
      owner?.release();
    }
  });

  it("leaves a record that does not count with values of other types", async () => {
    const owner = await take();
    const record = readOwnerRecord(folder);
    for (const wrong of [{ isBrief: "yes" }, { processId: "1" }, { lock: 1 }]) {
      writeFileSync(join(folder, "owner.json"), JSON.stringify({ ...record, ...wrong }));
      expect(readOwnerRecord(folder)).toBeNull();
    }
    owner?.release();
  });

  it("waits for the end of a runtime that an earlier owner has left, and leaves no mark", async () => {
    mkdirSync(folder);
    makeMark(markPath(folder));
    const runtime = await startMarked();
    runtime.kill("SIGSTOP");
    let isTaken = false;
    const taking = take().finally(() => (isTaken = true));
    // The lock is taken at once, and the folder when the mark is free.
    await vi.waitFor(() => expect(FileLock.tryTake(join(folder, "lock"))).toBeNull(), waiting);
    expect(isTaken).toBe(false);
    runtime.kill("SIGKILL");
    const owner = await taking;
    expect(owner).not.toBeNull();
    expect(isMarkHeld(markPath(folder))).toBe(false);
    owner?.release();
    expect(existsSync(markPath(folder))).toBe(false);
  });

  it("refuses a folder whose lock file was removed under a runtime", async () => {
    const first = await take();
    await startMarked();
    rmSync(join(folder, "lock"));
    hurryClock();
    await expect(take()).rejects.toThrow(/databases open and does not end.*lock file was removed/s);
    first?.release();
  });

  it("does not touch the owner of the folder that was copied", async () => {
    const owner = await take();
    const copy = `${folder}-copy`;
    execFileSync("cp", ["-r", folder, copy]);
    expect(readOwnerRecord(copy)).toBeNull();
    expect(await OwnerLink.connect(copy)).toBeNull();
    const second = await FolderOwner.tryTake(copy, { isBrief: false });
    expect(second).not.toBeNull();
    expect(readOwnerRecord(folder)).not.toBeNull();
    second?.release();
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
    // A process that another test starts has the socket for a moment, until its program runs.
    await expect.poll(() => OwnerLink.connect(folder), waiting).toBeNull();
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

  it("tells the owner that a client has ended, whose run is removed then", async () => {
    const owner = await take();
    const link = await OwnerLink.connect(folder);
    const record = join(folder, "runs", newRunId());
    mkdirSync(join(folder, "runs"));
    writeFileSync(record, "");
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

  it("names the process that has the lock and does not answer", async () => {
    const child = await startOwnerProcess();
    rmSync(join(folder, "sockets"), { recursive: true });
    hurryClock();
    const silent = new RegExp(`^Process ${child.pid} has the lock of .* no process listens`);
    await expect(claimFolder(folder, () => take())).rejects.toThrow(silent);
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
