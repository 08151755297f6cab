/** docs/production.md: readConfig() accepts the configurations, and the commands have these options. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { optionsOf, type Command } from "../../src/cli/command.ts";
import { commandsOf } from "../../src/cli/help.ts";
import { root } from "../../src/cli/root.ts";
import { readConfig, type ProjectConfig } from "../../src/config/read-config.ts";
import { remoteVariables } from "../../src/store/remote/remote-options.ts";
import { temporaryFolder } from "../support/store.ts";

const page = readFileSync(new URL("../../docs/production.md", import.meta.url), "utf8");
const commands = await commandsOf(root, [root.name]);

/** The code blocks in a language, without the continuation of lines. */
function blocks(language: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"));
  return Array.from(found, ([, text]) => (text as string).replaceAll("\\\n", ""));
}

function read(text: string): ProjectConfig {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "wrangler.toml"), text);
  return readConfig({ folder, keysOptional: true });
}

/** The commands of Ledge in code, with their words. */
function mentions(): string[] {
  const lines = blocks("sh").flatMap((block) => block.split("\n"));
  const inline = Array.from(page.matchAll(/`([^`\n]+)`/g), ([, text]) => text as string);
  return [...lines, ...inline]
    .map((text) => text.replace(/^npx /, ""))
    .filter((text) => text.startsWith("ledge "));
}

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
  it("has configurations without mistakes", () => {
    const [build, zones, ...more] = blocks("toml").map(read);
    expect(more).toEqual([]);
    expect(build?.buckets).toMatchObject([{ bucketName: "photos", remote: { name: "cluster" } }]);
    expect(zones?.dns.transfers.secondaries).toHaveLength(2);
  });

  it.each([...new Set(mentions())])("has a command with its options: %s", (text) => {
    const { command, rest } = commandOf(text.split(" "));
    expect(command).not.toBe(root);
    // The next word after a group of commands would be a command.
    const words = "commands" in command ? rest : rest.filter((word) => word.startsWith("-"));
    const options = "commands" in command ? [] : optionsOf(command);
    expect(options.map(({ name }) => `--${name}`)).toEqual(expect.arrayContaining([...words]));
  });

  it("names options of ledge build", () => {
    const { command } = commandOf(["ledge", "build"]);
    const options = "commands" in command ? [] : optionsOf(command).map(({ name }) => name);
    const named = Array.from(page.matchAll(/`--([a-z-]+)`/g), ([, name]) => name as string);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(options).toContain(name);
  });

  it("names the variables of the remote", () => {
    const named = page.matchAll(/\bLEDGE_REMOTE_\w+/g);
    const variables = Object.values(remoteVariables("cluster"));
    expect(new Set(Array.from(named, ([name]) => name))).toEqual(new Set(variables));
  });

  it("has a rule for unfinished uploads in JSON", () => {
    const json = /--lifecycle-configuration '([^']+)'/.exec(blocks("sh").join(""))?.[1];
    expect(JSON.parse(json as string)).toMatchObject({
      Rules: [{ Status: "Enabled", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } }],
    });
  });
});
