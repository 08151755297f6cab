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

function projectWithScript(): DnsProject {
  const project = new DnsProject();
  onTestFinished(() => project.remove());
  writeFileSync(join(project.folder, "index.mjs"), script);
  writeFileSync(
    join(project.folder, "wrangler.json"),
    JSON.stringify({
      name: "project",
      main: "index.mjs",
      compatibility_date: "2026-08-01",
      dns: { binding: "DNS", zones: [{ name: "example.org" }] },
    }),
  );
  return project;
}

async function start(folder: string) {
  const lines: string[] = [];
  const ports = { port: 0, dnsPort: 0, dnsApiPort: 0 };
  const log = (text: string) => void lines.push(text);
  const dev = await startDev({ folder, ...ports, log, logLevel: "error" });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return { dev, url: dev.url, lines };
}

const zonesOf = async (url: string | URL) => (await fetch(url)).json();

test("a command uses the DNS of the dev server, and so does a second dev server", async () => {
  const project = projectWithScript();
  const first = await start(project.folder);
  const record = JSON.parse(
    readFileSync(join(project.folder, ".wrangler/state/v3/dns/owner.json"), "utf8"),
  );
  expect(record.processId).toBe(process.pid);

  await project.ok("zones", "--create", "made.example");
  expect(await zonesOf(first.url)).toEqual(["example.org", "made.example"]);

  const second = await start(project.folder);
  expect(second.lines.join("\n")).toContain(`${record.addresses.url} (of process ${process.pid}`);
  await project.ok("zones", "--create", "more.example");
  expect(await zonesOf(second.url)).toEqual(["example.org", "made.example", "more.example"]);
  await second.dev.stop();
  // The second dev server does not stop the DNS of the first.
  expect(await zonesOf(first.url)).toHaveLength(3);
  expect(await project.json("zones")).toHaveLength(3);
});
