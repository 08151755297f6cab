/** docs/dns-command.md and the secondaries of docs/dns.md: what they show is so. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDns } from "../../dist/index.js";
import { dns } from "../../src/cli/dns/index.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { Project } from "../support/dns-command.ts";

const read = (page: string) =>
  readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), "utf8");

function block(text: string, language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)![1]!;
}

/** Without what differs every time. */
const steady = (text: string) => text.replace(/127\.0\.0\.1:\d+|in \d+ ms/g, "…");

test("the commands of the page print what it shows", async () => {
  const page = read("dns-command");
  const project = new Project();
  const configPath = join(project.folder, "wrangler.json");
  const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
  try {
    const lines = block(page, "sh").trimEnd().split("\n");
    let printed = "";
    for (const line of lines) {
      const words = line.split(" ");
      expect(words.slice(0, 2)).toEqual(["ledge", "dns"]);
      printed = await project.ok(...words.slice(2));
    }
    expect(steady(printed)).toBe(steady(block(page, "text")));
  } finally {
    await running.stop();
    project.remove();
  }
});

test("the page has a row for every command, and no other", () => {
  const rows = read("dns-command").matchAll(/^\| `([a-z]+)[^`]*` +\|/gm);
  const named = new Set(Array.from(rows, ([, name]) => name));
  expect([...named]).toEqual(dns.commands.map(({ name }) => name));
});

test("the configuration of secondaries is read", () => {
  const [, section] = /^## Secondaries\n([^]*?)^## /m.exec(read("dns"))!;
  const project = new Project();
  const configPath = join(project.folder, "wrangler.toml");
  writeFileSync(configPath, block(section!, "toml"));
  const { dns: config } = readConfig({ configPath });
  project.remove();
  const secret = config.transfers.keys[0]!.secret;
  expect(config.transfers).toEqual({
    keys: [{ name: "to-secondary", algorithm: "hmac-sha256", secret }],
    allow: ["127.0.0.1", "10.0.0.0/8", "key:to-secondary"],
    secondaries: [
      expect.objectContaining({ host: "127.0.0.1", port: 5301, key: config.transfers.keys[0] }),
    ],
  });
  // BIND's and Knot's have the same key.
  const shown = section!.split(Buffer.from(secret).toString("base64")).length - 1;
  expect(shown).toBe(3);
});
