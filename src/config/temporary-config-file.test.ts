import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withTemporaryConfig } from "./temporary-config-file.ts";
import { readConfig, type ProjectConfig } from "./read-config.ts";

const noUnsafeWarning = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";
let folder: string;
let config: ProjectConfig;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-temporary-config-"));
  writeFileSync(join(folder, "wrangler.toml"), "");
  config = readConfig({ folder });
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("withTemporaryConfig()", () => {
  it("writes a file beside the original, and removes the file after it was read", async () => {
    const read = await withTemporaryConfig(config, { name: "x" }, async (path) => {
      expect(dirname(path)).toBe(folder);
      return readFileSync(path, "utf8");
    });
    expect(read).toBe('{"name":"x"}');
    const failing = withTemporaryConfig(config, {}, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(readdirSync(folder)).toEqual(["wrangler.toml"]);
  });

  it("removes the files of processes that have ended, and no others", async () => {
    const { pid: ended } = spawnSync(process.execPath, ["--version"]);
    const running = join(folder, `.ledge-${process.ppid}-0.wrangler.json`);
    writeFileSync(join(folder, `.ledge-${ended}-0.wrangler.json`), "");
    writeFileSync(running, "");
    await withTemporaryConfig(config, {}, async () => {});
    expect(readdirSync(folder).toSorted()).toEqual([basename(running), "wrangler.toml"]);
  });

  it("replaces the name on the console, for several files at once, and restores the console", async () => {
    const lines: unknown[] = [];
    const { warn } = console;
    const record = (...values: unknown[]): void => void lines.push(...values);
    console.warn = record;
    try {
      const second = Promise.withResolvers<void>();
      await withTemporaryConfig(config, {}, async (first) => {
        const reading = withTemporaryConfig(config, {}, async (path) => {
          await second.promise;
          expect(existsSync(first)).toBe(false);
          expect(process.env[noUnsafeWarning]).toBe("1");
          console.warn(`in ${basename(path)}`, 1);
        });
        console.warn(`in ${basename(first)}`);
        return { reading };
      }).then(({ reading }) => {
        second.resolve();
        return reading;
      });
      expect(lines).toEqual(["in wrangler.toml", "in wrangler.toml", 1]);
      expect(console.warn).toBe(record);
      expect(process.env).not.toHaveProperty(noUnsafeWarning);
    } finally {
      console.warn = warn;
    }
  });
});
