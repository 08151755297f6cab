import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfigFile } from "./config-file.ts";
import { readDevVariables } from "./dev-variables.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-config-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("readConfigFile()", () => {
  it.each([
    ["wrangler.toml", 'name = "x"\n[dns]\nport = 1'],
    ["wrangler.json", '{ "name": "x", "dns": { "port": 1 } }'],
    ["wrangler.jsonc", '{ "name": "x", /* here */ "dns": { "port": 1, }, }'],
  ])("reads %s", (name, text) => {
    const path = write(name, text);
    expect(readConfigFile(undefined, folder)).toMatchObject({
      path,
      table: { name: "x", dns: { port: 1 } },
    });
  });

  it("finds the file of the folder above", () => {
    const path = write("wrangler.toml", "");
    mkdirSync(join(folder, "src/deep"), { recursive: true });
    expect(readConfigFile(undefined, join(folder, "src/deep"))?.path).toBe(path);
  });

  it("prefers JSON, as wrangler does", () => {
    write("wrangler.toml", "");
    const path = write("wrangler.json", "{}");
    expect(readConfigFile(undefined, folder)?.path).toBe(path);
  });

  it("is null when there is none", () => {
    expect(readConfigFile(undefined, folder)).toBeNull();
  });

  it.each([
    ["a.toml", "a = 1\nname = ", /a\.toml:2:8 is not TOML: /],
    ["a.json", '{\n\n"name": }', /a\.json:3:9 is not JSON: a value is expected\./],
    ["a.jsonc", "[]", /a\.jsonc must hold an object: /],
  ])("says what is wrong with %s", (name, text, message) => {
    write(name, text);
    expect(() => readConfigFile(name, folder)).toThrow(message);
  });

  it("says that a file is not there", () => {
    expect(() => readConfigFile("none.toml", folder)).toThrow(
      `There is no configuration file at ${join(folder, "none.toml")}: give the path of one.`,
    );
  });
});

describe("readDevVariables()", () => {
  it("reads the environment's own file, or else the common one", () => {
    expect(readDevVariables(folder)).toEqual({});
    write(".dev.vars", 'KEY="common"\n# a comment\nOTHER=1');
    write(".dev.vars.test", "KEY=own");
    expect(readDevVariables(folder)).toEqual({ KEY: "common", OTHER: "1" });
    expect(readDevVariables(folder, "test")).toEqual({ KEY: "own" });
    expect(readDevVariables(folder, "other")).toEqual({ KEY: "common", OTHER: "1" });
  });
});
