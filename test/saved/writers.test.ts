/**
 * 32 writers write by the script of `ledge dev` while states are saved and restored, by the dev server and beside it, and
 * while the process that saves or restores, the dev server, and the runtime are killed at random moments. Every state that
 * a request reads, and every saved state, is one that was (`support/counters.ts`); what was acknowledged is there.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { filesBelow, poolFolder } from "../../src/saved/saved-record.ts";
import { SavedStates } from "../../src/saved/saved-states.ts";
import { FaultProcess } from "../faults/support/fault-process.ts";
import { isLong, SeededRandom } from "../faults/support/seed.ts";
import { killProcesses } from "../support/processes.ts";
import { run } from "../support/project.ts";
import { counterScript, mixture, savedCounters, type Counters } from "./support/counters.ts";
import { ledgeProgram, StateProject, type StateServer } from "./support/state-project.ts";

const folderProgram = fileURLToPath(new URL("support/folder-program.ts", import.meta.url));
const writerCount = 32;
const rounds = isLong ? 100 : 4;
const statesMax = 6;
/** A restore by a restart takes some seconds. */
const requestMilliseconds = 90_000;
const waiting = { timeout: 600_000, interval: 50 };

interface Bump {
  readonly before: Counters;
  readonly value: number;
}

class Writers {
  readonly problems: string[] = [];
  /** What was acknowledged last, by writer: a state that is saved later has at least as much. */
  acknowledged = new Map<string, number>();
  /** What a request may have written. */
  readonly attempted = new Map<string, number>();
  requests = 0;
  failures = 0;
  #server: StateServer;
  #generation = 0;
  #isStopped = false;
  readonly #running: Promise<void>[];

  constructor(server: StateServer) {
    this.#server = server;
    this.#running = Array.from({ length: writerCount }, (_, index) => this.#write(String(index)));
  }

  set server(server: StateServer) {
    this.#server = server;
  }

  /** What is acknowledged of requests that began before does not count from now on. */
  forget(acknowledged: ReadonlyMap<string, number>): void {
    this.#generation++;
    this.acknowledged = new Map(acknowledged);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #write(writer: string): Promise<void> {
    while (!this.#isStopped) {
      const generation = this.#generation;
      try {
        const { before, value } = await this.#bump(writer);
        this.requests++;
        const problem = mixture(before);
        if (problem !== null) this.problems.push(`Writer ${writer} has read ${problem}.`);
        if (generation === this.#generation) this.acknowledged.set(writer, value);
      } catch (error) {
        if ((error as Error).name === "TimeoutError") this.problems.push(`No answer: ${writer}`);
        this.failures++;
        await delay(50);
      }
    }
  }

  async #bump(writer: string): Promise<Bump> {
    const url = new URL(`/bump?writer=${writer}`, this.#server.url);
    const response = await fetch(url, { signal: AbortSignal.timeout(requestMilliseconds) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Bump;
  }
}

test(`${rounds} rounds of saves, restores and kills beside ${writerCount} writers`, async () => {
  const random = new SeededRandom("writers");
  const project = new StateProject(counterScript);
  const states = new SavedStates(project.stateFolder);
  let server = await project.ledgeDev();
  const writers = new Writers(server);
  const figures = { saves: 0, restores: 0, "killed commands": 0, "killed servers": 0, reads: 0 };
  const names: string[] = [];

  /** @returns whether it has ended well */
  const act = async (action: string, name: string, isKilled: boolean): Promise<boolean> => {
    const isBeside = random.next() < 0.5;
    const command = isBeside
      ? [folderProgram, project.stateFolder, action, name]
      : [ledgeProgram, "state", action, name];
    const child = new FaultProcess(command, project);
    if (isKilled) {
      await delay(random.integer(100, 1200));
      await killProcesses(
        child.processes().filter(({ processId }) => processId === child.processId),
      );
    }
    const code = await child.exited;
    if (code === null) figures["killed commands"]++;
    // The dev server was killed while it answered.
    else if (code !== 0 && !child.output.includes("ended before it answered")) {
      throw new Error(`${action} ${name}: ${child.output}`);
    }
    // What the dev server still does for a command that was killed comes to its end.
    if (code === null && !isBeside) await run(project.folder, "ledge", "state", "delete", "none");
    return code === 0;
  };

  const check = (name: string, least: ReadonlyMap<string, number>): void => {
    const counters = savedCounters(states.find(name));
    figures.reads++;
    for (const [writer, found] of counters) {
      const problem = mixture(found);
      if (problem !== null) writers.problems.push(`${name} has ${problem} of writer ${writer}.`);
    }
    for (const [writer, value] of least) {
      const found = counters.get(writer)?.bucket ?? 0;
      if (found < value) {
        writers.problems.push(
          `${name} has ${found} of writer ${writer}, which had ${value} before.`,
        );
      }
    }
  };

  const save = async (round: number): Promise<void> => {
    const name = `s${round}`;
    const least = new Map(writers.acknowledged);
    await act("save", name, random.next() < 0.25);
    if (!states.list().some((each) => each.name === name)) return;
    figures.saves++;
    check(name, least);
    names.push(name);
    if (names.length > statesMax) await states.delete(names.shift() as string);
  };

  const restore = async (): Promise<void> => {
    if (names.length === 0) return;
    const name = random.pick(names);
    writers.forget(new Map());
    const isDone = await act("restore", name, random.next() < 0.25);
    if (isDone) figures.restores++;
    const counters = savedCounters(states.find(name));
    const restored = Array.from(counters, ([writer, { object }]) => [writer, object] as const);
    writers.forget(new Map(isDone ? restored : []));
  };

  const killServer = async (): Promise<void> => {
    figures["killed servers"]++;
    if (random.next() < 0.4) {
      await killProcesses(server.process.runtimes().slice(0, 1));
      return;
    }
    await server.process.killParent();
    server = await project.ledgeDev();
    writers.server = server;
  };

  for (let round = 1; round <= rounds; round++) {
    await save(round);
    await delay(random.integer(0, 300));
    await Promise.all([restore(), random.next() < 0.15 ? killServer() : null]);
    expect(writers.problems).toEqual([]);
  }
  // However slow the machine is, the writers write after the last kill, too.
  await expect.poll(() => writers.requests, waiting).toBeGreaterThan(rounds * 10);
  expect(writers.problems).toEqual([]);
  await writers.stop();
  console.log({ ...figures, requests: writers.requests, failures: writers.failures });

  for (const name of names) {
    expect(await run(project.folder, "ledge", "state", "restore", name)).toMatchObject({ code: 0 });
    const counters = savedCounters(states.find(name));
    for (let index = 0; index < writerCount; index++) {
      const response = await fetch(new URL(`/read?writer=${index}`, server.url));
      const { before } = (await response.json()) as Bump;
      expect(before).toEqual(counters.get(String(index)) ?? { bucket: 0, kv: 0, d1: 0, object: 0 });
    }
  }
  await server.process.stop();
  expect(await run(project.folder, "ledge", "store", "gc")).toMatchObject({ code: 0 });
  const checked = await run(project.folder, "ledge", "store", "check");
  expect(checked).toMatchObject({ code: 0 });
  const kept = new Set(states.list().flatMap(({ name }) => [...states.find(name).values.keys()]));
  expect(filesBelow(poolFolder(project.stateFolder)).toSorted()).toEqual([...kept].toSorted());
  const left = readdirSync(join(project.stateFolder, "saved")).filter((name) =>
    /^\.(?!lock|values)/.test(name),
  );
  expect(left).toEqual([]);
}, 3_600_000);
