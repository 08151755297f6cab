/** Files that a killed runtime leaves behind, and how the next runtime cleans up. */
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { letTimePass } from "../support/databases.ts";

/** `killed-writer.ts` in a process group, so that one signal kills the program and its runtime. */
class WriterProcess {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(folder: string) {
    const program = fileURLToPath(new URL("./support/killed-writer.ts", import.meta.url));
    this.#process = spawn(process.execPath, [program, folder], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve) => this.#process.once("close", resolve));
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on("line", (line) =>
      this.lines.push(line),
    );
    onTestFinished(() => this.kill());
  }

  /** SIGKILL: no handler runs and nothing is flushed. */
  async kill(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      process.kill(-(this.#process.pid as number), "SIGKILL");
    }
    await this.#ended;
  }
}

const waitOptions = { timeout: 60_000 };

describe("a runtime that is killed", () => {
  it("leaves a file that no object has, which the next start removes", async () => {
    const folder = temporaryFolder();
    const writer = new WriterProcess(folder);
    await vi.waitFor(() => expect(writer.lines).toEqual(["kept"]), waitOptions);
    await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(2), waitOptions);
    await writer.kill();
    expect(blobFiles(folder)).toHaveLength(2);

    const { bucket } = await startStore(folder);
    expect(await bucket.head("lost")).toBeNull();
    await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(1), waitOptions);
    expect(sameBytes(await (await bucket.get("kept"))?.bytes(), bytesOf(200_000))).toBe(true);
  });
});

describe("blobs without a row", () => {
  it("are removed after the runtime that wrote them has ended, and not before", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("kept", bytesOf(200_000));
    const [kept] = blobFiles(folder) as [string];
    // While its writer runs, such a file may still be committed.
    const uncommitted = kept.replace(/[0-9a-f]{32}$/, "f".repeat(32));
    writeFileSync(uncommitted, "content");

    const second = await startStore(folder);
    expect(await second.control.collectGarbage("photos")).toBe(0);
    expect(blobFiles(folder)).toContain(uncommitted);
    await second.stop();
    await first.stop();

    const third = await startStore(folder);
    expect((await third.bucket.list()).objects).toHaveLength(1);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([kept]), waitOptions);
  });

  it("are kept when the records of the runs that go on are missing", async () => {
    const folder = temporaryFolder();
    const { bucket, control } = await startStore(folder);
    await bucket.put("kept", bytesOf(200_000));
    const [kept] = blobFiles(folder) as [string];
    const uncommitted = kept.replace(/[0-9a-f]{32}$/, "f".repeat(32));
    writeFileSync(uncommitted, "content");
    const records = join(folder, "store", "runs");
    expect(readdirSync(records)).not.toEqual([]);
    for (const record of readdirSync(records)) rmSync(join(records, record));

    expect(await control.collectGarbage("photos")).toBe(0);
    expect(blobFiles(folder).toSorted()).toEqual([kept, uncommitted].toSorted());
  });
});

describe("a file of another process, whose row was deleted before the owner was killed", () => {
  it("is removed by the next owner, while the other process goes on", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const { bucket } = await startStore(folder);
    await bucket.put("key", bytesOf(200_000, 1));
    const [replaced] = blobFiles(folder) as [string];
    await bucket.put("key", bytesOf(200_000, 2));
    const [kept] = blobFiles(folder) as [string];
    // As if the owner were killed after the commit, and before it removed the file.
    writeFileSync(replaced, "content");
    // No row has ever named this file: its writer may still send the operation.
    const uncommitted = kept.replace(/[0-9a-f]{32}$/, "f".repeat(32));
    writeFileSync(uncommitted, "content");
    await owner.stop();

    expect(await bucket.head("key")).not.toBeNull();
    await vi.waitFor(() => expect(blobFiles(folder)).not.toContain(replaced), waitOptions);
    expect(blobFiles(folder).toSorted()).toEqual([kept, uncommitted].toSorted());
  });
});

describe("a bucket that was in use when its runtime was killed", () => {
  it("removes orphaned files at the next start, without a call", async () => {
    const folder = temporaryFolder();
    const writer = new WriterProcess(folder);
    await vi.waitFor(() => expect(writer.lines).toEqual(["kept"]), waitOptions);
    await writer.kill();
    const kept = blobFiles(folder).find((file) => statSync(file).size === 200_000) as string;
    writeFileSync(kept.replace(/[0-9a-f]{32}$/, "f".repeat(32)), "orphan");
    // The alarm, one minute after the last use, becomes due while no runtime runs.
    letTimePass(folder, 61_000);

    await startStore(folder);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([kept]), waitOptions);
  });
});
