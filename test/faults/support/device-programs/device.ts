/** What the programs on a small device share: filling the device, and a store on it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { worker } from "../../../support/worker.ts";

export const device = process.argv[2] as string;

const filler = join(device, "filler");

/** Takes all space, as another program would. */
export function fill(): void {
  const file = openSync(filler, "a");
  try {
    for (const size of [65_536, 4096, 1]) {
      const chunk = new Uint8Array(size);
      try {
        for (;;) writeSync(file, chunk);
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
      }
    }
  } finally {
    closeSync(file);
  }
}

export function free(): void {
  rmSync(filler);
}

export interface DeviceStore {
  readonly bucket: StoreBucket;
  stop(): Promise<void>;
}

export async function startStore(folder: string): Promise<DeviceStore> {
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [worker("export default {};")],
  });
  try {
    const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
    return { bucket: BUCKET, stop: () => miniflare.dispose() };
  } catch (error) {
    // `dispose` rejects with the same error.
    await miniflare.dispose().catch(() => {});
    throw error;
  }
}

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    assert.ok(Date.now() < deadline, `${what}: not within a minute`);
    await delay(20);
  }
}

export function reserveExists(folder: string): boolean {
  return existsSync(join(folder, "reserve"));
}

export function removeReserve(folder: string): void {
  rmSync(join(folder, "reserve"));
}

export async function rejection(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail("The call should have failed");
}

/** Checks each database below a folder. No process may have them open. */
export function checkDatabases(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const databases = files.filter((name) => name.endsWith(".sqlite"));
  assert.ok(databases.length > 0);
  for (const name of databases) {
    const database = new DatabaseSync(join(folder, name));
    const rows = database.prepare("PRAGMA integrity_check").all();
    database.close();
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ integrity_check: "ok" }],
      name,
    );
  }
}

/** The files of blobs, also those that are being written. */
export function blobFiles(folder: string): string[] {
  const blobs = join(folder, "store", "blobs", "photos");
  return existsSync(blobs) ? readdirSync(blobs).filter((name) => !name.includes("database.")) : [];
}

const program = fileURLToPath(new URL("../../../../dist/cli.js", import.meta.url));

export function ledge(
  folder: string,
  ...words: string[]
): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...words],
      { cwd: folder, encoding: "utf8", timeout: 100_000 },
      (failure, out, error) =>
        resolve({ code: failure === null ? 0 : (child.exitCode ?? -1), out, error }),
    );
  });
}
