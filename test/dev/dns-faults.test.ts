/**
 * Faults of DNS queries when DNS restarts, because its part of the configuration has changed, or moves to
 * another dev server: the new name server has the faults again.
 */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startDev, type RunningDev, type StartDevOptions } from "../../dist/index.js";
import { openExplorerLink } from "../support/explorer-access.ts";
import { noFaults } from "../../src/explorer/server/faults.ts";
import { createProject, waitOptions, write } from "../support/dev-process.ts";

const fault = "dns:servfail:www.example.org/A";
/** Statuses of answers. */
const noError = 0;
const servfail = 2;
const refused = 5;

function configuration(...zones: string[]) {
  return {
    name: "faults",
    main: "index.js",
    compatibility_date: "2026-08-01",
    dns: { zones: zones.map((name) => ({ name })) },
  };
}

function createDnsProject(): string {
  return createProject({
    "wrangler.json": configuration("example.org"),
    "index.js": 'export default { fetch: () => new Response("hello") };',
  });
}

async function start(folder: string, options: StartDevOptions): Promise<RunningDev> {
  const ports = { port: 0, dnsPort: 0, dnsApiPort: 0, explorerPort: 0 };
  const dev = await startDev({
    configPath: join(folder, "wrangler.json"),
    ...ports,
    s3: false,
    log: () => {},
    logLevel: "none",
    ...options,
  });
  onTestFinished(() => dev.stop());
  await dev.ready;
  return dev;
}

/** The status of an answer by HTTP; `null` while DNS does not listen. */
async function ask(dev: RunningDev, name: string): Promise<number | null> {
  const [, api] = /^DNS API +(\S+)/m.exec(await dev.summary()) ?? [];
  const query = new URL(`/dns-query?name=${name}&type=A`, api);
  return fetch(query)
    .then(async (response) => ((await response.json()) as { Status: number }).Status)
    .catch(() => null);
}

async function callFaults(dev: RunningDev, init: RequestInit = {}): Promise<unknown> {
  const { address, cookie } = await openExplorerLink(dev.explorerUrl as string);
  const response = await fetch(`${address}/api/faults`, { ...init, headers: { cookie } });
  return response.json();
}

/** Changes the configuration, and waits until the name server that has the new zone answers. */
async function restartDns(dev: RunningDev, folder: string): Promise<void> {
  expect(await ask(dev, "new.example")).toBe(refused);
  write(join(folder, "wrangler.json"), configuration("example.org", "new.example"));
  await expect.poll(() => ask(dev, "new.example"), waitOptions).toBe(noError);
}

it("faults of the start hold again when DNS restarts", async () => {
  const folder = createDnsProject();
  const dev = await start(folder, { faults: [fault], explorer: false });
  expect(await ask(dev, "www.example.org")).toBe(servfail);
  await restartDns(dev, folder);
  await expect.poll(() => ask(dev, "www.example.org"), waitOptions).toBe(servfail);
});

it("faults of the explorer hold again when DNS restarts, and the explorer counts their hits", async () => {
  const folder = createDnsProject();
  const dev = await start(folder, {});
  const body = JSON.stringify({ ...noFaults, faults: [fault] });
  expect(await callFaults(dev, { method: "PUT", body })).toMatchObject({ problem: null });
  expect(await ask(dev, "www.example.org")).toBe(servfail);
  await restartDns(dev, folder);
  await expect.poll(() => ask(dev, "www.example.org"), waitOptions).toBe(servfail);
  // The hits of the name server before are not counted.
  expect(await callFaults(dev)).toMatchObject({
    problem: null,
    faults: [{ text: fault, hits: 1 }],
  });
});

it("faults hold at the DNS of the dev server that takes over the zones", async () => {
  const folder = createDnsProject();
  const first = await start(folder, { explorer: false });
  const second = await start(folder, { faults: [fault], explorer: false });
  expect(await ask(first, "www.example.org")).toBe(servfail);
  await first.stop();
  await expect.poll(() => second.summary(), waitOptions).toMatch(/^DNS {8}127\.0\.0\.1:\d+/m);
  await expect.poll(() => ask(second, "www.example.org"), waitOptions).toBe(servfail);
});
