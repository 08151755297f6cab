import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { pluginPath } from "../base/runtime.ts";
import { readConfig, type ProjectConfig } from "./read-config.ts";
import { toWranglerTable, withTemporaryConfig, writeTemporaryConfig } from "./wrangler-config.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function read(table: object, environment?: string): ProjectConfig {
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify(table));
  return readConfig({ folder, environment });
}

const [store, dns] = ["store", "dns"].map((name) => ({ package: pluginPath, name }));

describe("toWranglerTable()", () => {
  it("turns buckets and DNS into unsafe bindings, and keeps other keys", () => {
    const table = {
      name: "photos",
      main: "./src/index.ts",
      compatibility_flags: ["store_list_honor_include"],
      unsafe: { bindings: [{ name: "OTHER", type: "other" }], metadata: { a: 1 } },
      store_buckets: [
        { binding: "PHOTOS", bucket_name: "photos", storage_class: "InfrequentAccess" },
        {
          binding: "LOGS",
          bucket_name: "logs",
          preview_bucket_name: "local-logs",
          verify_reads: true,
          durability: "process",
        },
      ],
      dns: { binding: "DNS", port: 0 },
      env: { staging: { store_buckets: [] } },
    };
    expect(toWranglerTable(read(table))).toEqual({
      name: "photos",
      main: "./src/index.ts",
      compatibility_flags: ["store_list_honor_include"],
      unsafe: {
        bindings: [
          { name: "OTHER", type: "other" },
          {
            name: "PHOTOS",
            type: "store_bucket",
            dev: {
              plugin: store,
              options: { bucket_name: "photos", storage_class: "InfrequentAccess" },
            },
          },
          {
            name: "LOGS",
            type: "store_bucket",
            dev: {
              plugin: store,
              options: { bucket_name: "local-logs", verify_reads: true, durability: "process" },
            },
          },
          { name: "DNS", type: "dns", dev: { plugin: dns, options: table.dns } },
        ],
        metadata: { a: 1 },
      },
    });
  });

  it("keeps one environment below env, with its own buckets", () => {
    const table = {
      name: "photos",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      env: {
        staging: {
          vars: { A: "1" },
          store_buckets: [{ binding: "PHOTOS", bucket_name: "staging" }],
        },
        other: { vars: {} },
      },
    };
    expect(toWranglerTable(read(table, "staging"))).toEqual({
      name: "photos",
      env: {
        staging: {
          vars: { A: "1" },
          unsafe: {
            bindings: [
              {
                name: "PHOTOS",
                type: "store_bucket",
                dev: { plugin: store, options: { bucket_name: "staging" } },
              },
            ],
          },
        },
      },
    });
    expect(toWranglerTable(read(table, "other"))).toEqual({
      name: "photos",
      env: { other: { vars: {} } },
    });
  });

  it("leaves out the buckets of the deploy that the store serves", () => {
    const table = {
      store_buckets: [
        { binding: "PHOTOS", bucket_name: "photos", public: true, s3_compatibility: "aws" },
      ],
      r2_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }, { binding: "LOGS" }],
      env: { staging: { r2_buckets: [{ binding: "LOGS" }] } },
    };
    expect(toWranglerTable(read(table))).toMatchObject({
      r2_buckets: [{ binding: "LOGS" }],
      unsafe: {
        bindings: [
          {
            name: "PHOTOS",
            dev: {
              options: {
                bucket_name: "photos",
                list_trailing_delimiter: true,
                public: true,
                s3_compatibility: "aws",
              },
            },
          },
        ],
      },
    });
    read(table);
    const adopted = readConfig({ folder, environment: "staging", adopt: true });
    expect(toWranglerTable(adopted)).toMatchObject({
      env: { staging: { r2_buckets: [], unsafe: { bindings: [{ name: "LOGS" }] } } },
    });
  });
});

const noUnsafeWarning = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";

describe("withTemporaryConfig()", () => {
  let config: ProjectConfig;

  beforeEach(() => {
    writeFileSync(join(folder, "wrangler.toml"), "");
    config = readConfig({ folder });
  });

  it("writes a file beside the original, and removes the file after it was read", async () => {
    const text = await withTemporaryConfig(config, { name: "x" }, async (path) => {
      expect(dirname(path)).toBe(folder);
      return readFileSync(path, "utf8");
    });
    expect(text).toBe('{"name":"x"}');
    const failing = withTemporaryConfig(config, {}, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(readdirSync(folder)).toEqual(["wrangler.toml"]);
  });

  it("removes the files of processes that have ended, and no others", async () => {
    const running = writeTemporaryConfig(folder, {});
    const before = readdirSync(folder).toSorted();
    expect(before).toHaveLength(3);
    for (const name of ["lock", "wrangler.json"]) {
      writeFileSync(join(folder, `.ledge-0123456789abcdef.${name}`), "");
    }
    await withTemporaryConfig(config, {}, async () => {});
    expect(readdirSync(folder).toSorted()).toEqual(before);
    running.remove();
    expect(readdirSync(folder)).toEqual(["wrangler.toml"]);
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
