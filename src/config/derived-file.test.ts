import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withDerivedFile } from "./derived-file.ts";
import { readConfig, type ProjectConfig } from "./read-config.ts";

const silencer = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";
let folder: string;
let config: ProjectConfig;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-derived-"));
  writeFileSync(join(folder, "wrangler.toml"), "");
  config = readConfig({ folder });
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("withDerivedFile()", () => {
  it("has a file beside the original while it is read, and not afterwards", async () => {
    const read = await withDerivedFile(config, { name: "x" }, async (path) => {
      expect(dirname(path)).toBe(folder);
      return readFileSync(path, "utf8");
    });
    expect(read).toBe('{"name":"x"}');
    const failing = withDerivedFile(config, {}, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(readdirSync(folder)).toEqual(["wrangler.toml"]);
  });

  it("removes what a process that is gone has left, and nothing of one that runs", async () => {
    const { pid: gone } = spawnSync(process.execPath, ["--version"]);
    const running = join(folder, `.ledge-${process.ppid}-0.wrangler.json`);
    writeFileSync(join(folder, `.ledge-${gone}-0.wrangler.json`), "");
    writeFileSync(running, "");
    await withDerivedFile(config, {}, async () => {});
    expect(readdirSync(folder).toSorted()).toEqual([basename(running), "wrangler.toml"]);
  });

  it("has the console speak of the original, for several at once, and puts it back", async () => {
    const heard: unknown[] = [];
    const { warn } = console;
    const hear = (...words: unknown[]): void => void heard.push(...words);
    console.warn = hear;
    try {
      const second = Promise.withResolvers<void>();
      await withDerivedFile(config, {}, async (first) => {
        const reading = withDerivedFile(config, {}, async (path) => {
          await second.promise;
          expect(existsSync(first)).toBe(false);
          expect(process.env[silencer]).toBe("1");
          console.warn(`in ${basename(path)}`, 1);
        });
        console.warn(`in ${basename(first)}`);
        return { reading };
      }).then(({ reading }) => {
        second.resolve();
        return reading;
      });
      expect(heard).toEqual(["in wrangler.toml", "in wrangler.toml", 1]);
      expect(console.warn).toBe(hear);
      expect(process.env).not.toHaveProperty(silencer);
    } finally {
      console.warn = warn;
    }
  });
});
