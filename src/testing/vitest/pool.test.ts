import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { PoolOptions, PoolWorker } from "vitest/node";
import { isRoomyMemory, keepStateInMemory } from "./pool.ts";

const memory = { type: 0x01021994, bsize: 4096, bavail: 1024 ** 3 / 4096 };

it("the state is in memory where 1 GiB is free", () => {
  expect(isRoomyMemory(memory)).toBe(true);
  expect(isRoomyMemory({ ...memory, bavail: memory.bavail - 1 })).toBe(false);
  expect(isRoomyMemory({ ...memory, type: 0xef53 })).toBe(false);
});

it("a runtime starts with a temporary folder in memory", async () => {
  const before = tmpdir();
  const memoryPath = mkdtempSync(join(before, "ledge-memory-"));
  onTestFinished(() => rmSync(memoryPath, { recursive: true }));
  const ownPrefix = join(memoryPath, `ledge-${process.getuid?.()}-`);
  const left = `${ownPrefix}a1b2c3`;
  mkdirSync(left);
  // No process has the lock.
  writeFileSync(join(left, "lock"), "");

  const folders: string[] = [];
  const start = async (): Promise<void> => {
    folders.push(tmpdir());
    await Promise.resolve();
    folders.push(tmpdir());
  };
  const worker = { createPoolWorker: () => ({ start }) as unknown as PoolWorker, name: "pool" };
  const startWith = (find: () => string | null) =>
    keepStateInMemory(worker, find)
      .createPoolWorker({} as PoolOptions)
      .start();
  await Promise.all([startWith(() => memoryPath), startWith(() => memoryPath)]);

  expect(folders).toHaveLength(4);
  expect(new Set(folders).size).toBe(1);
  expect(folders[0]).toContain(ownPrefix);
  expect(tmpdir()).toBe(before);
  expect(existsSync(left)).toBe(false);

  await startWith(() => null);
  expect(folders.slice(4)).toEqual([before, before]);
});
