/** Clients that speak only https to a fixed host, unchanged, by `ledge dns run`. Root has port 443. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDns, type RunningDns } from "../../dist/index.js";
import { DnsProject } from "../support/dns-command.ts";

const zone = "example.org";
const token = "token-of-the-clients";
const dynamic = { type: "A", name: "dynamic", content: "192.0.2.1", ttl: 300 };

let project: DnsProject;
let running: RunningDns;
beforeAll(async () => {
  project = new DnsProject({ tokens: [{ token }], zones: [{ name: zone, records: [dynamic] }] });
  const configPath = join(project.folder, "wrangler.json");
  running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
});
afterAll(async () => {
  await running.stop();
  project.remove();
});

/** Runs a client, which must succeed. */
function client(...words: string[]): Promise<string> {
  return project.ok("run", "--", ...words);
}

async function contents(name: string, type: string): Promise<string[]> {
  const lines = (await project.ok("list", zone, "--json")).trimEnd().split("\n");
  const records = lines.map(
    (line) => JSON.parse(line) as { name: string; type: string; content: string },
  );
  const found = records.filter((record) => record.name === name && record.type === type);
  return found.map(({ content }) => content);
}

/** Secrets are in files, which the clients want to be private. */
function writeSecret(name: string, text: string): string {
  const path = join(project.folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o600);
  return path;
}

test("inadyn changes an address", async () => {
  const file = writeSecret(
    "inadyn.conf",
    `provider cloudflare.com {
      username = ${zone}
      password = ${token}
      hostname = dynamic.${zone}
      checkip-command = "echo 198.51.100.7"
      ttl = 1
    }`,
  );
  const words = ["--once", "--foreground", "--no-pidfile", "--force", "--config", file];
  await client("inadyn", ...words, "--cache-dir", project.folder);
  expect(await contents(`dynamic.${zone}`, "A")).toEqual(["198.51.100.7"]);
});

test("ddclient changes an address", async () => {
  const file = writeSecret(
    "ddclient.conf",
    `daemon=0
ssl=yes
use=cmd, cmd='echo 198.51.100.9'
protocol=cloudflare
zone=${zone}
login=token
password=${token}
dynamic.${zone}
`,
  );
  const cache = join(project.folder, "ddclient.cache");
  await client("ddclient", "-daemon=0", "-force", "-file", file, "-cache", cache);
  expect(await contents(`dynamic.${zone}`, "A")).toEqual(["198.51.100.9"]);
});

function lexicon(...words: string[]): Promise<string> {
  return client("lexicon", "cloudflare", "--auth-token", token, ...words);
}

describe("lexicon", () => {
  const name = `_acme-challenge.${zone}`;
  const which = ["--name", name, "--content"];

  test("adds, lists, changes and deletes a record", async () => {
    await lexicon("create", zone, "TXT", ...which, "first");
    expect(await contents(name, "TXT")).toEqual(['"first"']);
    expect(await lexicon("list", zone, "TXT")).toContain("first");
    await lexicon("update", zone, "TXT", ...which, "second");
    expect(await contents(name, "TXT")).toEqual(['"second"']);
    await lexicon("delete", zone, "TXT", ...which, "second");
    expect(await contents(name, "TXT")).toEqual([]);
  });
});

describe.each([
  ["the proxy", []],
  ["the hosts file", ["--noproxy", "*"]],
])("curl, as acme.sh calls it, by %s", (_, more) => {
  test("lists the zone", async () => {
    const url = `https://api.cloudflare.com/client/v4/zones?name=${zone}`;
    const out = await client("curl", "-sS", ...more, "-H", `Authorization: Bearer ${token}`, url);
    expect(JSON.parse(out)).toMatchObject({ success: true, result: [{ name: zone }] });
  });
});
