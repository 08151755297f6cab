/**
 * A tool is killed while writers write. Afterwards every acknowledged write is there, rows and files
 * agree, SQLite finds no damage, and no process of the killed tool is alive.
 */
import { describe, expect, it } from "vitest";
import { fixedPort } from "../support/fixed-port.ts";
import { DnsWriters } from "./support/dns-writer.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { killModes, runKills, type CrashSubject, type KillMode } from "./support/kill-modes.ts";
import { killProcesses } from "./support/process-table.ts";
import { s3ClientOf } from "../s3/support/served-s3.ts";
import { throughS3 } from "./support/s3-endpoint.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import {
  FaultProject,
  prepareDns,
  prepareMiniflare,
  startLedgeDev,
  type DevPorts,
  type Tool,
} from "./support/tools.ts";
import { readZonesProblems } from "./support/store-state.ts";
import { verifyWrites } from "./support/verify-writes.ts";
import { waitUntil } from "./support/wait.ts";
import { throughScript, Writer } from "./support/writer.ts";

/** Of all subjects together, in the long form. */
const killsTotal = Number(process.env["LEDGE_KILLS"] ?? 1000);
const longMilliseconds = 3 * 3_600_000;

/** In the long form, a part of all kills in random modes. */
function modesOf(random: SeededRandom, part: number, quick: readonly KillMode[]): KillMode[] {
  if (!isLong) return [...quick];
  const count = Math.round(killsTotal * part);
  // Each mode comes equally often.
  return Array.from(
    { length: count },
    (_, index) => killModes[index % killModes.length] as KillMode,
  )
    .map((mode) => ({ mode, order: random.next() }))
    .sort((left, right) => left.order - right.order)
    .map(({ mode }) => mode);
}

function storeSubject(
  name: string,
  project: FaultProject,
  random: SeededRandom,
  prepare: CrashSubject["prepare"],
  { hasS3 = false } = {},
): CrashSubject {
  let tool: Tool | undefined;
  const { persistPath } = project;
  const script = throughScript(() => tool?.url as string);
  const s3 = throughS3(() => s3ClientOf((tool as Tool).process));
  const writers = Array.from(
    { length: 4 },
    // One of the writers is a client of S3.
    (_, index) => new Writer(`w${index}`, random, hasS3 && index === 0 ? s3 : script),
  );
  return {
    name,
    prepare,
    startWriters(started) {
      tool = started;
      for (const writer of writers) writer.start();
    },
    async stopWriters() {
      await Promise.all(writers.map((writer) => writer.stop()));
    },
    async waitForWrites(count) {
      const targets = writers.map((writer) => writer.acknowledged + count);
      await waitUntil(
        () =>
          writers.every(({ acknowledged }, index) => acknowledged >= (targets[index] as number)),
        () =>
          `writers acknowledge no writes: ${String(writers.map(({ lastError }) => lastError?.message))}`,
      );
    },
    async killRuntime({ process }) {
      const own = new Set(process.runtimes().map(({ processId }) => processId));
      const owners = databaseOwners(persistPath, "store");
      expect(owners.filter(({ processId }) => own.has(processId))).toHaveLength(1);
      await killProcesses(owners);
    },
    verify: ({ url }) => verifyWrites(url, persistPath, writers),
    acknowledged: () => writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
  };
}

function dnsSubject(project: FaultProject, random: SeededRandom): CrashSubject {
  const writers = new DnsWriters(random);
  return {
    name: "DNS",
    prepare: () => prepareDns(project),
    startWriters: ({ url }) => writers.start(url),
    stopWriters: () => writers.stop(),
    waitForWrites: (count) => writers.waitForWrites(count),
    async killRuntime() {
      await killProcesses(databaseOwners(project.persistPath, "dns"));
    },
    async verify({ url }) {
      const { lost, wrong, problems } = await writers.verify(url);
      const damage = readZonesProblems(project.persistPath);
      return { lost, wrong: wrong + damage.length, problems: [...problems, ...damage] };
    },
    acknowledged: () => writers.acknowledged,
  };
}

describe("a crash", { timeout: isLong ? longMilliseconds : 180_000 }, () => {
  it("of plain Miniflare loses no acknowledged write and leaves nothing", async () => {
    const random = new SeededRandom("crash: miniflare");
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const subject = storeSubject("miniflare", project, random, () =>
      prepareMiniflare(project.persistPath),
    );
    await runKills(subject, modesOf(random, 0.65, killModes), random);
    expect(monitor.end()).toEqual([]);
  });

  it("of ledge dev loses no acknowledged write, leaves nothing and keeps its ports", async () => {
    const random = new SeededRandom("crash: ledge dev");
    const project = new FaultProject({ dns: true });
    const monitor = new OwnerMonitor(project.persistPath);
    const ports: DevPorts = {
      script: await fixedPort(),
      api: await fixedPort(),
      dns: await fixedPort(),
    };
    const subject = storeSubject(
      "ledge dev",
      project,
      random,
      () => ({
        // A killed dev server leaves no process that has its ports.
        async start() {
          const tool = await startLedgeDev(project, ports);
          expect.soft(await tool.ports()).toEqual(ports);
          return tool;
        },
      }),
      { hasS3: true },
    );
    const quick = ["runtime", "parent, writers go on"] as const;
    await runKills(subject, modesOf(random, 0.1, quick), random);
    expect(monitor.end()).toEqual([]);
  });

  it("of DNS loses no acknowledged record and leaves nothing", async () => {
    const random = new SeededRandom("crash: DNS");
    const project = new FaultProject({ dns: true });
    const monitor = new OwnerMonitor(project.persistPath);
    const subject = dnsSubject(project, random);
    const quick = ["runtime", "parent, writers go on"] as const;
    await runKills(subject, modesOf(random, 0.25, quick), random);
    expect(monitor.end()).toEqual([]);
  });
});
