/**
 * A tool is killed while writers write. Afterwards every acknowledged write is there, rows and files
 * agree, SQLite finds no damage, and no process of the killed tool is alive.
 */
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { DnsWriters } from "./support/dns-writer.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { addFigures, noFigures, reportFigures, type Figures } from "./support/figures.ts";
import { killProcesses } from "../support/processes.ts";
import { s3ClientOf } from "../s3/support/served-s3.ts";
import { throughS3 } from "./support/s3-endpoint.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import {
  FaultProject,
  prepareDns,
  prepareMiniflare,
  startLedgeDev,
  type DevPorts,
  type PreparedTool,
  type Tool,
} from "./support/tools.ts";
import { readZonesProblems } from "./support/store-state.ts";
import { verifyWrites } from "./support/verify-writes.ts";
import { waitUntil } from "./support/wait.ts";
import { throughScript, Writer } from "./support/writer.ts";

/** The ways in which a crash happens. */
const killModes = ["runtime", "parent", "both", "parent, writers go on"] as const;
type KillMode = (typeof killModes)[number];

interface CrashSubject {
  readonly name: string;
  /** Loads the tool. The next tool is loaded while the last one works. */
  prepare(): Pick<PreparedTool, "start">;
  startWriters(tool: Tool): void;
  stopWriters(): Promise<void>;
  /** Resolves when `count` more writes are acknowledged, to each writer. */
  waitForWrites(count: number): Promise<void>;
  /** Ends the runtime that has the databases open. */
  killRuntime(tool: Tool): Promise<void>;
  /** @returns the problems, as figures and as lines */
  verify(tool: Tool): Promise<Partial<Figures> & { readonly problems: readonly string[] }>;
  acknowledged(): number;
}

/** Kills the tool once for each mode of the list, and verifies everything after each kill. */
async function runKills(
  subject: CrashSubject,
  modes: readonly KillMode[],
  random: SeededRandom,
): Promise<void> {
  const totals = new Map<KillMode, Figures>();
  let tool = await subject.prepare().start();
  let next: Pick<PreparedTool, "start"> | undefined;
  for (const [round, mode] of modes.entries()) {
    const figures = totals.get(mode) ?? noFigures();
    totals.set(mode, figures);
    const before = subject.acknowledged();
    if (mode !== "runtime") next ??= subject.prepare();
    subject.startWriters(tool);
    await subject.waitForWrites(random.integer(1, 8));
    let left: string[] = [];
    if (mode === "runtime") {
      await subject.killRuntime(tool);
      // The tool starts its runtime again: each writer continues by itself.
      await subject.waitForWrites(2);
      await subject.stopWriters();
    } else {
      const last = tool;
      if (mode === "both") await last.process.killAll();
      else await last.process.killParent();
      if (mode !== "parent, writers go on") await subject.stopWriters();
      tool = await (next as NonNullable<typeof next>).start();
      next = undefined;
      left = await last.process.processesLeft();
      // What stays would hold the writers, and would fail all later rounds too.
      await last.process.killAll();
      await subject.stopWriters();
    }
    const { problems, ...found } = await subject.verify(tool);
    addFigures(figures, {
      ...found,
      kills: 1,
      acknowledged: subject.acknowledged() - before,
      processesLeft: left.length,
    });
    if (problems.length > 0) console.log(tool.process.output);
    expect.soft([...left, ...problems], `${subject.name}, kill ${round + 1}: ${mode}`).toEqual([]);
  }
  for (const [mode, figures] of totals) {
    reportFigures(`crash: ${subject.name}, ${mode}`, figures);
  }
}

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
    // The ports are the same after a kill, so no client may get them meanwhile.
    const ports: DevPorts = {
      script: String(await freePort()),
      api: String(await freePort()),
      dns: String(await freePort()),
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
