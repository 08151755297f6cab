/** What a runtime leaves behind when it is killed, and what the next one makes of it. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { letTimePass } from "./support/time.ts";

/** A program in a process group of its own, so that it and its runtime can be killed as one. */
class Victim {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(folder: string, scenario: "stream" | "churn") {
    const program = fileURLToPath(new URL("./support/killed-writer.ts", import.meta.url));
    this.#process = spawn(process.execPath, [program, folder, scenario], {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve) => this.#process.once("close", resolve));
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on("line", (line) =>
      this.lines.push(line),
    );
    onTestFinished(() => this.kill());
  }

  /** No handler runs, nothing is flushed: as a power switch, as far as processes go. */
  async kill(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      process.kill(-(this.#process.pid as number), "SIGKILL");
    }
    await this.#ended;
  }
}

const patiently = { timeout: 30_000 };

describe("a runtime that is killed", () => {
  it("leaves a file half-written, which the next start collects", async () => {
    const folder = temporaryFolder();
    const victim = new Victim(folder, "stream");
    await vi.waitFor(() => expect(victim.lines).toEqual(["kept"]), patiently);
    await vi.waitFor(() => expect(blobFiles(folder).some(isPartial)).toBe(true), patiently);
    await victim.kill();
    expect(blobFiles(folder).filter(isPartial)).toHaveLength(1);

    const { bucket } = await startStore(folder);
    expect(await bucket.head("lost")).toBeNull();
    await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(1), patiently);
    expect(sameBytes(await (await bucket.get("kept"))?.bytes(), bytesOf(200_000))).toBe(true);
  });

  it("loses nothing that it had promised, and leaves nothing else", async () => {
    const folder = temporaryFolder();
    for (const writes of [15, 42, 77]) {
      const victim = new Victim(folder, "churn");
      await vi.waitFor(() => expect(victim.lines.length).toBeGreaterThan(writes), patiently);
      await victim.kill();
      const promised = new Map(
        victim.lines.map((line) => {
          const [seed, key, version] = line.split(" ") as [string, string, string];
          return [key, { seed: Number(seed), version }];
        }),
      );

      const store = await startStore(folder);
      const { objects } = await store.bucket.list({ include: ["customMetadata"] });
      expect(objects).toHaveLength(10);
      for (const { key, size, version, customMetadata } of objects) {
        const seed = Number(customMetadata?.["seed"]);
        // It may have gone one write further than it could tell.
        const untold = seed === victim.lines.length;
        expect(untold || version === promised.get(key)?.version).toBe(true);
        expect(sameBytes(await (await store.bucket.get(key))?.bytes(), bytesOf(size, seed))).toBe(
          true,
        );
      }
      const large = objects.filter(({ size }) => size > 131_072).length;
      await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(large), patiently);
      await store.stop();
    }
  });
});

describe("blobs without a row", () => {
  it("are collected when the runtime that wrote them is gone, and not before", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("kept", bytesOf(200_000));
    const [kept] = blobFiles(folder) as [string];
    // Either an orphan, or about to be committed: nobody can tell while its writer runs.
    const uncommitted = kept.replace(/[0-9a-f]{32}$/, "f".repeat(32));
    writeFileSync(uncommitted, "content");

    const second = await startStore(folder);
    expect(await second.control.collectGarbage("photos")).toBe(0);
    expect(blobFiles(folder)).toContain(uncommitted);
    await second.stop();
    await first.stop();

    const third = await startStore(folder);
    expect((await third.bucket.list()).objects).toHaveLength(1);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([kept]), patiently);
  });
});

describe("a bucket that was in use when its runtime was killed", () => {
  it("is woken by the next start, and collects without being asked for", async () => {
    const folder = temporaryFolder();
    const victim = new Victim(folder, "stream");
    await vi.waitFor(() => expect(victim.lines).toEqual(["kept"]), patiently);
    await victim.kill();
    const kept = blobFiles(folder).find((file) => !isPartial(file)) as string;
    writeFileSync(kept.replace(/[0-9a-f]{32}$/, "f".repeat(32)), "orphan");
    // The alarm of a minute after use came due while nothing ran.
    letTimePass(folder, 61_000);

    await startStore(folder);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([kept]), patiently);
  });
});

function isPartial(file: string): boolean {
  return file.endsWith(".partial");
}
