/** docs/cli.md and docs/production.md: the commands that they name, with their options and examples. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startDns } from "../../dist/index.js";
import { optionsOf, type Command, type CommandGroup } from "../../src/cli/command.ts";
import { commandsOf, withReference } from "../../src/cli/help.ts";
import { root } from "../../src/cli/root.ts";
import { runCommand } from "../../src/cli/run.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { remoteVariables } from "../../src/store/remote/remote-options.ts";
import { DnsProject } from "../support/dns-command.ts";
import { StoreProject } from "../support/store-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { blocks, read, section } from "./support/pages.ts";

const page = read("docs/cli.md");
const commands = await commandsOf(root, [root.name]);

/** The words of each example after `ledge` and the name of the group. */
function examples(title: string, group: string): string[][] {
  const [block = ""] = blocks(section(page, title), "sh");
  return block
    .trimEnd()
    .split("\n")
    .map((line) => {
      const words = line.split(" ");
      expect(words.slice(0, 2)).toEqual(["ledge", group]);
      return words.slice(2);
    });
}

/** Without ports and durations, which differ in every run. */
const steady = (text = "") => text.replace(/127\.0\.0\.1:\d+|in \d+ ms/g, "…");

describe("docs/cli.md", () => {
  it("is up to date; if not, run `npx node scripts/write-cli-docs.ts`", async () => {
    expect(page).toBe(await withReference(page, root));
  });

  it("has no other command", () => {
    const headings = Array.from(page.matchAll(/^### (ledge.*)$/gm), ([, name]) => name);
    expect(headings).toEqual(commands.map(({ path }) => path.join(" ")));
  });

  it.each(commands)(
    "has the help of $path, which describes everything",
    async ({ command, path }) => {
      const lines: string[] = [];
      const output = { out: (text: string) => void lines.push(text), error: () => {} };
      expect(await runCommand(root, [...path.slice(1), "--help"], output)).toBe(0);
      expect(page).toContain(`### ${path.join(" ")}\n\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`);
      const summaries =
        "commands" in command
          ? (await command.commands()).map(({ summary }) => summary)
          : [
              ...Object.values(command.options ?? {}),
              ...(command.arguments ?? []).map(([, summary]) => summary),
            ];
      for (const summary of [command.summary, ...summaries]) expect(summary).toMatch(/\S{2,} \S+/);
    },
  );

  it.each([
    ["Buckets: `ledge store`", "store"],
    ["Zones: `ledge dns`", "dns"],
  ])("%s has a row for every command, and no other", async (title, group) => {
    const groups = await root.commands();
    const below = await (groups.find(({ name }) => name === group) as CommandGroup).commands();
    const rows = section(page, title).matchAll(/^\| `([a-z]+)[^`]*` +\|/gm);
    const names = new Set(Array.from(rows, ([, name]) => name));
    expect([...names]).toEqual(below.map(({ name }) => name));
  });

  it("shows what ledge dns prints", async () => {
    const title = "Zones: `ledge dns`";
    const project = new DnsProject();
    const configPath = join(project.folder, "wrangler.json");
    const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
    try {
      let printed = "";
      for (const words of examples(title, "dns")) printed = await project.ok(...words);
      expect(steady(printed)).toBe(steady(blocks(section(page, title), "text")[0]));
    } finally {
      await running.stop();
      project.remove();
    }
  });

  it("shows commands of ledge store that run", async () => {
    const project = new StoreProject();
    await project.serve();
    project.write("cat.png", "cat");
    project.write("public/index.html", "<p>");
    for (const words of examples("Buckets: `ledge store`", "store")) {
      expect(await project.store(...words)).toMatchObject({ code: 0, errors: "" });
    }
    expect(readFileSync(project.path("copy.png"), "utf8")).toBe("cat");
    expect(existsSync(project.path("backup/static/index.html"))).toBe(true);
  });
});

/** The innermost command or group that the words name, and the words after it. */
function commandOf(words: readonly string[]): { command: Command; rest: readonly string[] } {
  let found = { command: root as Command, rest: words.slice(1) };
  for (const { command, path } of commands) {
    const isNamed = path.every((word, index) => words[index] === word);
    if (isNamed) found = { command, rest: words.slice(path.length) };
  }
  return found;
}

describe("docs/production.md", () => {
  const production = read("docs/production.md");
  const shell = blocks(production, "sh").map((text) => text.replaceAll("\\\n", ""));
  const inline = Array.from(production.matchAll(/`([^`\n]+)`/g), ([, text]) => text as string);
  const mentioned = [...shell.flatMap((text) => text.split("\n")), ...inline]
    .map((text) => text.replace(/^npx /, ""))
    .filter((text) => text.startsWith("ledge "));

  it("has configurations without mistakes", () => {
    const [build, namespaces, keys, zones, ...more] = blocks(production, "toml").map((text) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "wrangler.toml"), text);
      return readConfig({ folder, keysOptional: true, namespaces: true });
    });
    expect(more).toEqual([]);
    expect(build?.buckets).toMatchObject([{ bucketName: "photos", remote: { name: "cluster" } }]);
    expect(namespaces?.namespaceBucket).toMatchObject({ bucketName: "photos-kv" });
    expect(keys?.table["remotes"]).toMatchObject({ cluster: { keys_file: expect.any(String) } });
    expect(zones?.dns.transfers.secondaries).toHaveLength(2);
  });

  it.each([...new Set(mentioned)])("has a command with its options: %s", (text) => {
    const { command, rest } = commandOf(text.split(" "));
    expect(command).not.toBe(root);
    // The next word after a group of commands would be a command.
    const words = "commands" in command ? rest : rest.filter((word) => word.startsWith("-"));
    const options = "commands" in command ? [] : optionsOf(command);
    const named = options.map(({ name }) => `--${name}`);
    expect(named).toEqual(expect.arrayContaining([...words]));
  });

  it("names options of ledge build, and the variables of the remote", () => {
    const { command } = commandOf(["ledge", "build"]);
    const options = "commands" in command ? [] : optionsOf(command).map(({ name }) => name);
    const named = Array.from(production.matchAll(/`--([a-z-]+)`/g), ([, name]) => name as string);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(options).toContain(name);
    const variables = Array.from(production.matchAll(/\bLEDGE_REMOTE_\w+/g), ([name]) => name);
    expect(new Set(variables)).toEqual(new Set(Object.values(remoteVariables("cluster"))));
  });

  it("has a rule for unfinished uploads in JSON", () => {
    const json = /--lifecycle-configuration '([^']+)'/.exec(shell.join(""))?.[1];
    expect(JSON.parse(json as string)).toMatchObject({
      Rules: [{ Status: "Enabled", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } }],
    });
  });
});
