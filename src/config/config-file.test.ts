import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { readConfigFile, readDevVariables } from "./config-file.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

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

  it("finds the file in a folder above", () => {
    const path = write("wrangler.toml", "");
    mkdirSync(join(folder, "src/deep"), { recursive: true });
    expect(readConfigFile(undefined, join(folder, "src/deep"))?.path).toBe(path);
  });

  it("prefers JSON to TOML, as wrangler does", () => {
    write("wrangler.toml", "");
    const path = write("wrangler.json", "{}");
    expect(readConfigFile(undefined, folder)?.path).toBe(path);
  });

  it("returns null without a file", () => {
    expect(readConfigFile(undefined, folder)).toBeNull();
  });

  it.each([
    ["a.toml", "a = 1\nname = ", /a\.toml:2:8 is not TOML: /],
    ["a.json", '{\n\n"name": }', /a\.json:3:9 is not JSON: a value is expected\./],
    ["a.jsonc", "[]", /a\.jsonc must hold an object: /],
  ])("refuses %s with the reason", (name, text, message) => {
    write(name, text);
    expect(() => readConfigFile(name, folder)).toThrow(message);
  });

  it("refuses a path without a file", () => {
    expect(() => readConfigFile("none.toml", folder)).toThrow(
      `No configuration file exists at ${join(folder, "none.toml")}. Name a wrangler.jsonc, wrangler.json ` +
        "or wrangler.toml.",
    );
  });

  it.each([
    ["wrangler.json", "wrangler.jsonc"],
    ["wrangler.staging.tml", "wrangler.staging.toml"],
    ["cfg.json", "wrangler.jsonc"],
    ["none/wrangler.toml", "The nearest is "],
  ])("says what exists instead of %s", (wanted, guess) => {
    for (const name of ["wrangler.jsonc", "wrangler.staging.toml", "package.json"])
      write(name, "{}");
    const hint = guess.includes(" ")
      ? `${guess}${join(folder, "wrangler.jsonc")}.`
      : `Did you mean ${join(folder, guess)}?`;
    expect(() => readConfigFile(wanted, folder)).toThrow(
      `No configuration file exists at ${join(folder, wanted)}. ${hint}`,
    );
  });
});

describe("readDevVariables()", () => {
  it("reads the file of the environment, or else the common file", () => {
    expect(readDevVariables(folder)).toEqual({});
    write(".dev.vars", 'KEY="common"\n# a comment\nOTHER=1');
    write(".dev.vars.test", "KEY=own");
    expect(readDevVariables(folder)).toEqual({ KEY: "common", OTHER: "1" });
    expect(readDevVariables(folder, "test")).toEqual({ KEY: "own" });
    expect(readDevVariables(folder, "other")).toEqual({ KEY: "common", OTHER: "1" });
  });
});
