/**
 * Three processes on one folder: `ledge dev`, stock wrangler and `ledge store` in a loop, while the
 * process that owns the folder is killed again and again. Every acknowledged write is there, and each
 * client that was not killed goes on by itself.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FaultProcess } from "./support/fault-process.ts";
import { addFigures, noFigures, reportFigures } from "./support/figures.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { killProcesses, markOf, type ProcessEntry } from "../support/processes.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import {
  FaultProject,
  ledgeProgram,
  startLedgeDev,
  startMiniflare,
  startWrangler,
  type Tool,
} from "./support/tools.ts";
import { verifyWrites } from "./support/verify-writes.ts";
import { waitUntil } from "./support/wait.ts";
import { throughScript, Writer, type Execute } from "./support/writer.ts";

const kills = isLong ? 50 : 1;

/** Writes by `ledge store` commands, a process for each. */
function throughCommands(
  { folder }: FaultProject,
  onStart: (command: FaultProcess) => void = () => {},
): Execute {
  const run = async (...words: string[]): Promise<string> => {
    const command = new FaultProcess([ledgeProgram, "store", ...words], { folder });
    onStart(command);
    const code = await command.exited;
    if (code !== 0) throw new Error(`ledge store ${words[0]}: exit ${code}\n${command.output}`);
    return command.output;
  };
  return async ({ method, key, body }) => {
    const address = `photos/${key}`;
    if (method === "delete") {
      await run("delete", address);
      return null;
    }
    // Commands have no uploads in several calls, and no conditions.
    if (method === "abort") {
      await run("stats", "photos");
      return null;
    }
    const file = join(folder, `${key.replaceAll("/", "-")}.bin`);
    writeFileSync(file, body as Uint8Array);
    const output = await run("put", address, file, "--json");
    return (JSON.parse(output) as { etag: string }).etag;
  };
}

function without(names: readonly string[], name: string): string[] {
  return names.filter((each) => each !== name);
}

const starts = { "ledge dev": startLedgeDev, "wrangler dev": startWrangler };
type ToolName = keyof typeof starts;

class ThreeProcesses {
  readonly project = new FaultProject();
  readonly tools = new Map<ToolName, Tool>();
  readonly writers = new Map<string, Writer>();
  /** The command that runs. */
  command: FaultProcess | undefined;

  constructor(random: SeededRandom) {
    for (const name of Object.keys(starts) as ToolName[]) {
      const url = (): string => this.tools.get(name)?.url as string;
      this.writers.set(name, new Writer(name, random, throughScript(url)));
    }
    const execute = throughCommands(this.project, (command) => (this.command = command));
    this.writers.set("ledge store", new Writer("ledge store", random, execute));
  }

  async start(name: ToolName): Promise<void> {
    this.tools.set(name, await starts[name](this.project));
  }

  /** Waits until each of the writers has `count` more acknowledged writes. */
  async waitForWrites(names: readonly string[], count: number): Promise<void> {
    const writers = names.map((name) => this.writers.get(name) as Writer);
    const targets = writers.map(({ acknowledged }) => acknowledged + count);
    await waitUntil(
      () => writers.every(({ acknowledged }, index) => acknowledged >= (targets[index] as number)),
      () =>
        writers
          .map(({ name, acknowledged, lastError }) => `${name}: ${acknowledged}, ${lastError}`)
          .join("\n"),
    );
  }

  /** The owner, and the process that started it. */
  async findOwner(): Promise<{ runtime: ProcessEntry; name: string; process: FaultProcess }> {
    let found: { runtime: ProcessEntry; name: string; process: FaultProcess } | undefined;
    await waitUntil(
      () => {
        const [runtime, ...others] = databaseOwners(this.project.persistPath, "store");
        if (runtime === undefined || others.length > 0) return false;
        const mark = markOf(runtime.processId);
        for (const { name, process } of this.tools.values()) {
          if (process.mark === mark) found = { runtime, name, process };
        }
        if (this.command?.mark === mark) {
          found = { runtime, name: "ledge store", process: this.command };
        }
        return found !== undefined;
      },
      () => "no process has the databases open",
    );
    return found as NonNullable<typeof found>;
  }
}

describe("three processes on one folder", { timeout: isLong ? 7_200_000 : 180_000 }, () => {
  it("lose no acknowledged write while the owner is killed, and go on by themselves", async () => {
    const random = new SeededRandom("three processes");
    const three = new ThreeProcesses(random);
    const { persistPath } = three.project;
    const monitor = new OwnerMonitor(persistPath);
    const names = [...three.writers.keys()];
    const figures = noFigures();
    const [first, second] = random.pick([
      ["ledge dev", "wrangler dev"],
      ["wrangler dev", "ledge dev"],
    ] as const);
    await three.start(first);
    await three.start(second);
    for (const [name, writer] of three.writers) {
      // Each command is a process: without a pause, commands would occupy a processor.
      writer.start({ pauseMilliseconds: name === "ledge store" ? 300 : 20 });
    }
    /** Tools that were killed and are not started again yet. */
    const dead = new Set<string>();
    for (let kill = 0; kill < kills; kill++) {
      const alive = names.filter((name) => !dead.has(name));
      await three.waitForWrites(alive, 1);
      const { runtime, name, process } = await three.findOwner();
      // Stock wrangler does not start a crashed runtime again.
      const modes = name === "wrangler dev" ? ["parent", "both"] : ["parent", "both", "runtime"];
      const mode = random.pick(modes);
      console.log(`kill ${kill + 1}: ${name}, ${mode}`);
      if (mode === "runtime") await killProcesses([runtime]);
      else if (mode === "parent") await process.killParent();
      else await process.killAll();
      figures.kills++;
      await three.waitForWrites(without(alive, name), 2);
      // A runtime that was killed alone is started again by its tool.
      const left = mode === "runtime" ? [] : await process.processesLeft();
      figures.processesLeft += left.length;
      expect.soft(left, `kill ${kill + 1}: ${name}, ${mode}`).toEqual([]);
      if (mode !== "runtime") await process.killAll();
      if (mode !== "runtime" && name !== "ledge store") dead.add(name);
      else await three.waitForWrites([name], 1);
      // A tool that starts takes the folder from a client that has become the owner. Without a
      // start, that client is killed next.
      if (dead.size === 2 || kill === kills - 1 || random.next() < 0.3) {
        for (const each of dead) await three.start(each as ToolName);
        await three.waitForWrites([...dead], 1);
        dead.clear();
      }
    }
    await Promise.all([...three.writers.values()].map((writer) => writer.stop()));
    for (const { process } of three.tools.values()) await process.stop();

    const reader = await startMiniflare(persistPath);
    const writers = [...three.writers.values()];
    const { problems, ...found } = await verifyWrites(reader.url, persistPath, writers);
    expect(problems).toEqual([]);
    expect(monitor.end()).toEqual([]);
    addFigures(figures, found);
    for (const { acknowledged } of writers) figures.acknowledged += acknowledged;
    reportFigures("three processes", figures);
  });
});
