/**
 * Which files and folders are on the device when a put is acknowledged. `power.test.ts` cuts a device, which
 * needs root; this test records what the process syncs, whichever part of the store does it.
 */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { callScript } from "./support/http-call.ts";
import { FaultProject, startMiniflare } from "./support/tools.ts";

const recorder = new URL("support/programs/record-syncs.ts", import.meta.url).href;

it.skipIf(process.platform !== "linux")(
  "finds a value in a file on the device before the put is acknowledged, and the names that lead to it",
  async () => {
    const { folder, persistPath } = new FaultProject();
    const log = join(folder, "syncs");
    writeFileSync(log, "");
    const { url } = await startMiniflare(persistPath, {
      environment: { NODE_OPTIONS: `--import=${recorder}`, LEDGE_TEST_SYNCS: log },
    });
    // Each key has a new file. Its folder is new with the first, and must be synced again with each.
    for (const size of [200_001, 200_002, 200_003]) {
      const body = new Uint8Array(size);
      await callScript(`${url}/${size}`, { method: "PUT", body });
      const synced = new Set(readFileSync(log, "utf8").split("\n"));
      const file = filesBelow(persistPath).find((path) => sizeOf(path) === size) as string;
      const folders = size === 200_001 ? foldersOf(file, persistPath) : [dirname(file)];
      const isSynced = (path: string): boolean => synced.has(String(statSync(path).ino));
      expect([file, ...folders].filter((path) => !isSynced(path))).toEqual([]);
      truncateSync(log);
    }
  },
);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** `undefined` for a file that was removed meanwhile: a database has files for a moment. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** The folders from that of the file up to another. */
function foldersOf(file: string, last: string): string[] {
  const folder = dirname(file);
  return folder === last ? [folder] : [folder, ...foldersOf(folder, last)];
}
