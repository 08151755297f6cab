/** docs/dns.md: its code runs. docs/deviations.md: its list of deviations is the code's. */
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Client } from "../dns/support/client.ts";
import { readDnsConfig } from "../../src/dns/config/dns-config.ts";
import { startServer } from "../dns/support/server.ts";

const root = new URL("../../", import.meta.url);
const text = await readFile(new URL("docs/dns.md", root), "utf8");

function codeBlock(language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)![1]!;
}

test("the first example prints what it says", async () => {
  const server = await startServer();
  try {
    const body = codeBlock("ts")
      .replace(
        'import Cloudflare from "cloudflare";',
        'const { default: Cloudflare } = await load("cloudflare");',
      )
      .replace("http://127.0.0.1:8788/client/v4", server.url);
    const printed: string[] = [];
    const log = (...words: string[]) => printed.push(words.join(" "));
    // oxlint-disable-next-line typescript/no-implied-eval -- the documentation's own code is what is tested
    const run = new Function("load", "console", `return (async () => {${body}})()`) as (
      load: (name: string) => Promise<unknown>,
      console: { log: typeof log },
    ) => Promise<void>;
    await run((name) => import(name), { log });
    expect(text).toContain(`It prints \`${printed.join("\n")}\``);
    expect(printed).toHaveLength(1);
    expect(await new Client(server.url).ok("GET", "/zones?name=example.com")).toHaveLength(1);
  } finally {
    await server.stop();
  }
});

test("the credentials are the local defaults", () => {
  const { email, key } = readDnsConfig({});
  expect(text).toContain(email);
  expect(text).toContain(key);
});

test("every deviation in the code is in the table, and the other way round", async () => {
  const files = await readdir(new URL("worker/", root), { recursive: true });
  const inCode: string[] = [];
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    const source = await readFile(new URL(`worker/${file}`, root), "utf8");
    for (const _ of source.matchAll(/Deviation:/g)) inCode.push(`worker/${file}`);
  }
  const deviations = await readFile(new URL("docs/deviations.md", root), "utf8");
  const inTable = [...deviations.matchAll(/^\| .* \| `(worker\/[^`]*)` +\|$/gm)].map(
    ([, file]) => file!,
  );
  expect(inTable.toSorted()).toEqual(inCode.toSorted());
});
