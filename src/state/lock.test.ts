import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { FileLock } from "./lock.ts";

const modulePath = new URL("./lock.ts", import.meta.url).href;
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-lock-"));
  path = join(folder, "lock");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that runs a program with `FileLock` and `path`. */
function startProgram(program: string): ChildProcess {
  const text = `import { FileLock } from ${JSON.stringify(modulePath)};
    import { mkdirSync, rmdirSync } from "node:fs";
    const path = ${JSON.stringify(path)};
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** A process that has the lock until it ends. */
async function startHolder(): Promise<ChildProcess> {
  const child = startProgram(`
    await FileLock.take(path);
    process.stdout.write("taken");
    process.stdin.resume();`);
  await once(child.stdout!, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

describe("FileLock.take()", () => {
  it("lets one of several processes in at a time", async () => {
    const children = Array.from({ length: 4 }, () =>
      startProgram(`
        for (let round = 0; round < 25; round++) {
          const lock = await FileLock.take(path);
          // Fails when another process is here.
          mkdirSync(path + ".inside");
          await new Promise((resolve) => setTimeout(resolve, 1));
          rmdirSync(path + ".inside");
          lock.release();
        }`),
    );
    const exits = await Promise.all(children.map((child) => once(child, "exit")));
    expect(exits.map(([code]) => code as number)).toEqual([0, 0, 0, 0]);
  });
});

describe("FileLock.tryTake()", () => {
  it("takes a lock whose process was killed", async () => {
    const holder = await startHolder();
    expect(FileLock.tryTake(path)).toBeNull();
    await kill(holder);
    const lock = FileLock.tryTake(path);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  it("does not take the lock of a process that was stopped", async () => {
    const holder = await startHolder();
    holder.kill("SIGSTOP");
    expect(FileLock.tryTake(path)).toBeNull();
    await kill(holder);
  });

  it("takes a lock of this process once", () => {
    const first = FileLock.tryTake(path);
    expect(first).not.toBeNull();
    expect(FileLock.tryTake(path)).toBeNull();
    first?.release();
    const second = FileLock.tryTake(path);
    // A second release does not release the lock of another part of the process.
    first?.release();
    expect(FileLock.tryTake(path)).toBeNull();
    second?.release();
  });

  it("does not take the lock of a file that was removed since it was opened", () => {
    // oxlint-disable-next-line typescript/unbound-method -- is called with the database
    const { exec } = DatabaseSync.prototype;
    const others: (FileLock | null)[] = [];
    // Between the opening and the lock, another holder removes the file and takes the lock of a new one.
    const removal = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementationOnce(function (
      this: DatabaseSync,
      statements,
    ) {
      rmSync(path);
      others.push(FileLock.tryTake(path));
      exec.call(this, statements);
    });
    onTestFinished(() => removal.mockRestore());
    expect(FileLock.tryTake(path)).toBeNull();
    expect(others).toEqual([expect.any(FileLock)]);
    others[0]?.release();
    const later = FileLock.tryTake(path);
    expect(later).not.toBeNull();
    later?.release();
  });

  it.each([
    ["an old file", -1e9],
    ["a file from the future: the clock was set back", 1e9],
  ])("takes the lock of %s", (_, seconds) => {
    writeFileSync(path, "");
    const time = Date.now() / 1000 + seconds;
    utimesSync(path, time, time);
    const lock = FileLock.tryTake(path);
    expect(lock).not.toBeNull();
    expect(FileLock.tryTake(path)).toBeNull();
    lock?.release();
  });

  it("makes a private file, and the folder", () => {
    const nested = join(folder, "a", "b", "lock");
    FileLock.tryTake(nested)?.release();
    expect(statSync(nested).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "a", "b")).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["has text", () => writeFileSync(path, "123456789".repeat(1000))],
    ["is a folder", () => mkdirSync(path)],
  ])("names a file that %s", (_, make) => {
    make();
    expect(() => FileLock.tryTake(path)).toThrow(/Cannot lock .*lock.*must be empty/);
  });
});
