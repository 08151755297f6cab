/** The examples and tables of docs/cli.md: the commands run, and the tables list every command. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startDns } from "../../dist/index.js";
import type { CommandGroup } from "../../src/cli/command.ts";
import { root } from "../../src/cli/root.ts";
import { DnsProject } from "../support/dns-command.ts";
import { StoreProject } from "../support/store-command.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

/** A section of the page, up to the next heading of the second level. */
function section(title: string): string {
  const start = page.indexOf(`## ${title}\n`);
  return page.slice(start, page.indexOf("\n## ", start));
}

function block(text: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)![1]!;
}

/** The words of each example after `ledge` and the name of the group. */
function examples(text: string, group: string): string[][] {
  return block(text, "sh")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const words = line.split(" ");
      expect(words.slice(0, 2)).toEqual(["ledge", group]);
      return words.slice(2);
    });
}

/** Without ports and durations, which differ in every run. */
const steady = (text: string) => text.replace(/127\.0\.0\.1:\d+|in \d+ ms/g, "…");

describe.each([
  ["Buckets: `ledge store`", "store"],
  ["Zones: `ledge dns`", "dns"],
])("%s", (title, group) => {
  it("has a row for every command, and no other", async () => {
    const groups = await root.commands();
    const commands = await (groups.find(({ name }) => name === group) as CommandGroup).commands();
    const rows = section(title).matchAll(/^\| `([a-z]+)[^`]*` +\|/gm);
    const names = new Set(Array.from(rows, ([, name]) => name));
    expect([...names]).toEqual(commands.map(({ name }) => name));
  });
});

it("ledge dns prints what the page shows", async () => {
  const text = section("Zones: `ledge dns`");
  const project = new DnsProject();
  const configPath = join(project.folder, "wrangler.json");
  const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
  try {
    let printed = "";
    for (const words of examples(text, "dns")) printed = await project.ok(...words);
    expect(steady(printed)).toBe(steady(block(text, "text")));
  } finally {
    await running.stop();
    project.remove();
  }
});

it("ledge store runs the examples of the page", async () => {
  const project = new StoreProject();
  await project.serve();
  project.write("cat.png", "cat");
  project.write("public/index.html", "<p>");
  for (const words of examples(section("Buckets: `ledge store`"), "store")) {
    expect(await project.store(...words)).toMatchObject({ code: 0, errors: "" });
  }
  expect(readFileSync(project.path("copy.png"), "utf8")).toBe("cat");
  expect(existsSync(project.path("backup/static/index.html"))).toBe(true);
});
