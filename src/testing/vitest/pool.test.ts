import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { PoolOptions, PoolWorker } from "vitest/node";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { testedVersions } from "../../base/tested-versions.ts";
import { isRoomyMemory } from "../../state/temporary-folder.ts";
import { findPool, keepStateInMemory } from "./pool.ts";

const [, vitestNewest] = testedVersions.vitest;
const plugin = "@cloudflare/vitest-plugin";

function project(packages: Readonly<Record<string, object>>): string {
  const files = Object.entries(packages).map(
    ([name, manifest]) => [`node_modules/${name}/package.json`, JSON.stringify(manifest)] as const,
  );
  return temporaryFolder(Object.fromEntries(files));
}

it("findPool() says which vitest a pool needs", async () => {
  const vitest = { version: "5.1.0" };
  const pool = { version: "1.1.13", peerDependencies: { vitest: "^4.1.0" } };
  const folder = project({ vitest, [plugin]: pool });
  await expect(findPool(folder)).rejects.toThrow(
    `${plugin} 1.1.13 runs tests of vitest ^4.1.0, and ${folder} has vitest 5.1.0. Install ` +
      `vitest@${vitestNewest}, or a version of ${plugin} for vitest 5.1.0.`,
  );
  await expect(findPool(project({ vitest }))).rejects.toThrow(
    `npm install --save-dev ${plugin} vitest@${vitestNewest}`,
  );
  await expect(findPool(project({ vitest: { version: vitestNewest } }))).rejects.toThrow(
    new RegExp(`npm install --save-dev ${plugin}$`),
  );
});

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
