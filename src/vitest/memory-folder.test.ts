import { existsSync, mkdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PoolOptions, PoolWorker } from "vitest/node";
import { expect, it } from "vitest";
import { keepStateInMemory } from "./memory-folder.ts";

const memoryPath = "/dev/shm";

function hasRoom(): boolean {
  if (!existsSync(memoryPath)) return false;
  const { bavail, bsize } = statfsSync(memoryPath);
  return bavail * bsize >= 1024 ** 3;
}

/** No process has this number: it is beyond the limit of Linux. */
const endedProcess = 2 ** 22 + 1;

it.runIf(hasRoom())("a runtime starts with a temporary folder in memory", async () => {
  const left = join(memoryPath, `ledge-${process.getuid?.()}-${endedProcess}`);
  mkdirSync(left, { recursive: true });
  const before = tmpdir();
  const folders: string[] = [];
  const start = async (): Promise<void> => {
    folders.push(tmpdir());
    await Promise.resolve();
    folders.push(tmpdir());
  };
  const runner = keepStateInMemory({
    name: "pool",
    createPoolWorker: () => ({ start }) as unknown as PoolWorker,
  });
  const startOne = () => runner.createPoolWorker({} as PoolOptions).start();
  await Promise.all([startOne(), startOne()]);
  const own = join(memoryPath, `ledge-${process.getuid?.()}-${process.pid}`);
  expect(folders).toEqual([own, own, own, own]);
  expect(tmpdir()).toBe(before);
  // What a killed process has left is removed.
  expect(existsSync(left)).toBe(false);
});
