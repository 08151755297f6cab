/** docs/reliability.md names tests that exist, and the mutations that the fault suite was shown to find. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "../faults/mutations.ts";
import { read, root } from "./support/pages.ts";

const page = read("docs/reliability.md");

test("each promise names tests that exist", () => {
  const [, promises] = page.split("\n## What is promised\n");
  const rows = (promises as string)
    .split("\n## ")[0]!
    .matchAll(/^\| (?![ -]*\|?-)(.+) \| (.+) \|$/gm);
  const promised = Array.from(rows).slice(1);
  expect(promised.length).toBeGreaterThan(8);
  for (const [, , tests] of promised) {
    const names = (tests as string).matchAll(/`(test\/[\w-]+\/)?([\w-]+\.test\.ts)`/g);
    const paths = Array.from(names, ([, folder = "test/faults/", name = ""]) => folder + name);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  }
});

test("the table of mutations has every mutation, and each can be applied", () => {
  const rows = page
    .match(/^\| suite +\| mutation[^]*?\n\n/m)![0]
    .matchAll(/^\| (\S+) +\| (.+?) +\|$/gm);
  const listed = Array.from(rows, ([, suite, effect]) => ({ suite, effect }));
  const known = mutations.map(({ suite, effect }) => ({ suite, effect }));
  expect(listed.filter(({ suite }) => suite !== "suite" && !suite!.startsWith("-"))).toEqual(known);
  for (const { suite, file, original } of mutations) {
    expect(read(file).split(original), `${suite}: ${file}`).toHaveLength(2);
  }
});
