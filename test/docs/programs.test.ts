/** Programs and tables of docs/dev.md, docs/dns.md, docs/testing-dns.md and docs/s3.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFaultSpec } from "../../src/config/fault-spec.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { readDnsConfig } from "../../src/dns/config/dns-config.ts";
import { queryFaultKinds } from "../../src/dns/fault/query-fault.ts";
import { verbs } from "../../src/s3/s3-operations.ts";
import { accountVerbs } from "../../src/s3/verbs/bucket-verbs.ts";
import { DnsFaults } from "../../src/testing/dns-zones.ts";
import { Client } from "../dns/support/client.ts";
import { startServer } from "../dns/support/server.ts";
import { temporaryFolder } from "../support/store.ts";
import { blocks, read, runProgram, section } from "./support/pages.ts";

it("docs/dev.md shows a program that starts a script, sends a request and stops", () => {
  const printed = runProgram(blocks(read("docs/dev.md"), "js")[0]!, {
    "wrangler.json": { name: "greeter", main: "index.js", compatibility_date: "2026-08-01" },
    "index.js": 'export default { fetch: () => new Response("hello") };',
  });
  expect(printed).toMatch(/^Ready {6}http:\/\/localhost:\d+\n/);
  expect(printed).toContain("\nhello\n");
});

describe("docs/dns.md", () => {
  const page = read("docs/dns.md");

  it("has a first example that prints what it says", async () => {
    const server = await startServer();
    try {
      const body = blocks(page, "ts")[0]!
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
      expect(page).toContain(`It prints \`${printed.join("\n")}\``);
      expect(printed).toHaveLength(1);
      expect(await new Client(server.url).ok("GET", "/zones?name=example.com")).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });

  it("has the credentials that are the local defaults", () => {
    const { email, key } = readDnsConfig({});
    expect(page).toContain(email);
    expect(page).toContain(key);
  });

  it("has a valid configuration of secondaries, whose key is the same everywhere", () => {
    const secondaries = section(page, "Secondaries");
    const configPath = join(temporaryFolder(), "wrangler.toml");
    writeFileSync(configPath, blocks(secondaries, "toml")[0]!);
    const { transfers } = readConfig({ configPath }).dns;
    const [key] = transfers.keys;
    expect(transfers).toEqual({
      keys: [{ name: "to-secondary", algorithm: "hmac-sha256", secret: key!.secret }],
      allow: ["127.0.0.1", "10.0.0.0/8", "key:to-secondary"],
      secondaries: [expect.objectContaining({ host: "127.0.0.1", port: 5301, key })],
    });
    // The configurations of Ledge, BIND and Knot have the same key.
    expect(secondaries.split(Buffer.from(key!.secret).toString("base64"))).toHaveLength(4);
  });
});

describe("docs/testing-dns.md", () => {
  const page = read("docs/testing-dns.md");

  it("shows a program with a failover, an ACME client and a resolver", () => {
    const files = { "wrangler.json": blocks(page, "json")[0]! };
    const printed = runProgram(blocks(page, "js").join("\n"), files);
    expect(printed.trim().split("\n")).toEqual([
      "failover: the second name server answered",
      "ACME: the challenge was at the first name server before the second",
      "resolver: UDP, then TCP",
    ]);
  });

  it("lists every kind of fault with its method, and faults that the command line takes", () => {
    const rows = Array.from(
      page.matchAll(/^\| `(\w+)` +\| `(\w+)\(.*?\)` /gm),
      ([, ...row]) => row,
    );
    expect(rows.map(([kind]) => kind)).toEqual(queryFaultKinds);
    const faults = new DnsFaults(() => expect.unreachable());
    for (const [, method] of rows) expect(faults).toHaveProperty(method!);
    const specs = Array.from(page.matchAll(/--fault (\S+?)(?=[\s`])/g), ([, spec]) => spec!);
    expect(specs.length).toBeGreaterThan(2);
    for (const spec of specs) expect(parseFaultSpec(spec).subject).toBe("dns");
  });
});

it("docs/s3.md names each operation once", () => {
  const rows = read("docs/s3.md").matchAll(/^\| ([A-Z][A-Za-z0-9]+(?:, [A-Z][A-Za-z0-9]+)*) +\|/gm);
  const named = Array.from(rows, ([, names = ""]) => names.split(", ")).flat();
  const served = [accountVerbs, verbs].flatMap(Object.keys);
  expect(named.toSorted()).toEqual(served.toSorted());
});
