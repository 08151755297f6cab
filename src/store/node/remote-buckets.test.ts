import { execFileSync } from "node:child_process";
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
    const ended = execFileSync(process.execPath, ["-p", "process.pid"], {
      encoding: "utf8",
    }).trim();
    const kept = [`ledge-spool-${process.ppid}-abcdef`, `other-${ended}-abcdef`, "ledge-spool-x-1"];
    const left = `ledge-spool-${ended}-abcdef`;
    for (const name of [...kept, left]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "content"), "content");
    }
    const spool = new SpoolFolder();
    await spool.write(large());
    const [own, ...others] = readdirSync(folder).filter((name) => !kept.includes(name));
    expect(own).toMatch(new RegExp(`^ledge-spool-${process.pid}-`));
    expect(others).toEqual([]);
    await spool.close();
    expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
  });
});
