/** `ledge dns` beside `ledge dev`, and two dev servers on one folder: all share one DNS. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDev } from "../../dist/index.js";
import { DnsProject } from "../support/dns-command.ts";

const script = `export default {
  async fetch(request, env) {
    const response = await env.DNS.fetch("http://dns/client/v4/zones");
    const { result } = await response.json();
    return Response.json(result.map(({ name }) => name));
  },
};`;

const apiHeaders = {
  "x-auth-email": "dev@ledge.local",
  "x-auth-key": "0123456789abcdef0123456789abcdef01234",
};

function projectWithScript(
  config: object = { dns: { binding: "DNS", zones: [{ name: "example.org" }] } },
): DnsProject {
  const project = new DnsProject();
  onTestFinished(() => project.remove());
  writeFileSync(join(project.folder, "index.mjs"), script);
  writeFileSync(
    join(project.folder, "wrangler.json"),
    JSON.stringify({
      name: "project",
      main: "index.mjs",
      compatibility_date: "2026-08-01",
      ...config,
    }),
  );
  return project;
}

async function start(folder: string, faults: readonly string[] = []) {
  const lines: string[] = [];
  const ports = { port: 0, dnsPort: 0, dnsApiPort: 0 };
  const log = (text: string) => void lines.push(text);
  const dev = await startDev({ folder, ...ports, faults, log, logLevel: "error" });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return { dev, url: dev.url, lines };
}

const zonesOf = async (url: string | URL) => (await fetch(url)).json();

test("a command uses the DNS of the dev server, and so does a second dev server", async () => {
  const project = projectWithScript();
  const faults = ["dns:refused:www.example.org/A:times=1"];
  const first = await start(project.folder, faults);
  expect(first.lines.join("\n")).toContain(`Faults     ${faults[0]}`);
  const record = JSON.parse(
    readFileSync(join(project.folder, ".wrangler/state/v3/dns/owner.json"), "utf8"),
  );
  expect(record.processId).toBe(process.pid);
  const query = new URL("/dns-query?name=www.example.org", record.addresses.url);
  const codes = [await fetch(query), await fetch(query)].map((response) => response.json());
  expect(await Promise.all(codes)).toMatchObject([{ Status: 5 }, { Status: 3 }]);

  await project.ok("zones", "--create", "made.example");
  expect(await zonesOf(first.url)).toEqual(["example.org", "made.example"]);

  const second = await start(project.folder, faults);
  // Its fault holds at the DNS of the first.
  expect(await (await fetch(query)).json()).toMatchObject({ Status: 5 });
  expect(second.lines.join("\n")).toContain(`${record.addresses.url} (of process ${process.pid}`);
  await project.ok("zones", "--create", "more.example");
  expect(await zonesOf(second.url)).toEqual(["example.org", "made.example", "more.example"]);
  await second.dev.stop();
  // The second dev server does not stop the DNS of the first.
  expect(await zonesOf(first.url)).toHaveLength(3);
  expect(await project.json("zones")).toHaveLength(3);
});

test("a second dev server serves DNS when the first has stopped, and no script needs a restart", async () => {
  const project = projectWithScript();
  const first = await start(project.folder);
  const second = await start(project.folder);
  await project.ok("add", "example.org", "www", "A", "192.0.2.1");
  await first.dev.stop();
  expect(await zonesOf(second.url)).toEqual(["example.org"]);
  await expect
    .poll(() => second.lines.join("\n"), { timeout: 60_000 })
    .toContain("The process that had the zones has ended. DNS runs here now.");
  expect(second.lines.at(-1)).toMatch(/^DNS API {4}http.*\n[^]*^DNS {8}127\.0\.0\.1:\d+/m);
  const answer = await project.ok("dig", "www.example.org");
  expect(answer).toContain("192.0.2.1");
  // A third dev server is a client of the second.
  const third = await start(project.folder);
  await project.ok("zones", "--create", "made.example");
  expect(await zonesOf(third.url)).toEqual(["example.org", "made.example"]);
  expect(await zonesOf(second.url)).toEqual(["example.org", "made.example"]);
});

test("a dev server with another [dns] table says whose table counts", async () => {
  const project = projectWithScript();
  const first = await start(project.folder);
  const path = join(project.folder, "wrangler.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  // The second reads another file, and has the same folder.
  const configPath = join(project.folder, "other.json");
  config.dns.zones = [{ name: "other.example" }];
  writeFileSync(configPath, JSON.stringify(config));
  const lines: string[] = [];
  const ports = { port: 0, inspectorPort: 0, dnsPort: 0, dnsApiPort: 0 };
  const log = (text: string) => void lines.push(text);
  const second = await startDev({ configPath, ...ports, log, logLevel: "error" });
  onTestFinished(() => second.stop());
  await second.ready;
  expect(lines.join("\n").match(/its \[dns\] table differs/g)).toHaveLength(1);
  expect(await zonesOf(second.url)).toEqual(["example.org"]);
  await first.dev.stop();
  // The table of the next owner counts, and the zones that exist stay.
  await expect
    .poll(() => zonesOf(second.url), { timeout: 60_000 })
    .toEqual(["example.org", "other.example"]);
});

test("without [dns], DNS starts with the first request and with the first command", async () => {
  const project = projectWithScript({});
  const first = await start(project.folder);
  const [, api] = /^DNS API {4}(\S+) \(starts with the first request\)$/m.exec(
    first.lines.join("\n"),
  ) as RegExpExecArray;
  const zones = await fetch(`${api}/zones`, { headers: apiHeaders }).catch((cause: unknown) => {
    // DNS says in the log why it does not start.
    throw new Error(first.lines.join("\n"), { cause });
  });
  expect(await zones.json()).toMatchObject({ success: true, result: [] });
  await expect
    .poll(() => first.lines.join("\n"))
    .toMatch(/^DNS has started\.\nDNS API {4}\S+\n {2}zones {4}none\nDNS {8}127\.0\.0\.1:\d+/m);
  await first.dev.stop();

  const second = await start(project.folder);
  await project.ok("zones", "--create", "made.example");
  await expect.poll(() => second.lines.join("\n")).toContain("DNS has started.");
  expect(await second.dev.summary()).toMatch(/^ {2}zones {4}made\.example$/m);
  expect(await project.ok("dig", "made.example", "SOA")).toContain("made.example");
  await second.dev.stop();

  // Zones exist now, so DNS starts with the dev server.
  const third = await start(project.folder);
  expect(third.lines.join("\n")).toMatch(/^ {2}zones {4}made\.example\nDNS {8}127\.0\.0\.1:\d+/m);
});
