/** `ledge dns` beside `ledge dev`: they have one DNS, and so have two dev servers. */
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
  const said: string[] = [];
  const ports = { port: 0, inspectorPort: 0, dnsPort: 0, dnsApiPort: 0 };
  const log = (text: string) => void said.push(text);
  const dev = await startDev({ folder, ...ports, log, logLevel: "error" });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return { dev, url: dev.url, said };
}

const zonesOf = async (url: string | URL) => (await fetch(url)).json();

test("a command goes through the dev server, and a second dev server shares the first's", async () => {
  const project = projectWithScript();
  const first = await start(project.folder);
  const note = JSON.parse(
    readFileSync(join(project.folder, ".wrangler/state/v3/dns/running.json"), "utf8"),
  );
  expect(note.processId).toBe(process.pid);

  await project.ok("zones", "--create", "made.example");
  expect(await zonesOf(first.url)).toEqual(["example.org", "made.example"]);

  const second = await start(project.folder);
  expect(second.said.join("\n")).toContain(`${note.addresses.url} (of process ${process.pid}`);
  await project.ok("zones", "--create", "more.example");
  expect(await zonesOf(second.url)).toEqual(["example.org", "made.example", "more.example"]);
  await second.dev.stop();
  // What is not its own it has left running.
  expect(await zonesOf(first.url)).toHaveLength(3);
  expect(await project.json("zones")).toHaveLength(3);
});
