import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SpoolFolder } from "./remote-buckets.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-temporary-"));
  vi.stubEnv("TMPDIR", folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function* large() {
  yield new Uint8Array(8 * 1024 * 1024);
}

describe("SpoolFolder", () => {
  it("removes the folders of processes that have ended, and no others", async () => {
    const first = new SpoolFolder();
    await first.write(large());
    const left = `ledge-spool-${process.getuid?.()}-abcdef`;
    for (const name of [left, "other-abcdef"]) {
      mkdirSync(join(folder, name));
      for (const file of ["content", "lock"]) writeFileSync(join(folder, name, file), "");
    }
    const kept = readdirSync(folder).filter((name) => name !== left);
    expect(kept).toHaveLength(2);
    const spool = new SpoolFolder();
    await spool.write(large());
    const others = readdirSync(folder).filter((name) => !kept.includes(name));
    expect(others).toHaveLength(1);
    expect(others).not.toContain(left);
    await Promise.all([first.close(), spool.close()]);
    expect(readdirSync(folder)).toEqual(["other-abcdef"]);
  });
});
