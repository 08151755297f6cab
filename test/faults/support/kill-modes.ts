/** The ways in which a crash happens, and the chain of kills that a test makes. */
import { expect } from "vitest";
import { addFigures, noFigures, reportFigures, type Figures } from "./figures.ts";
import type { SeededRandom } from "./seed.ts";
import type { PreparedTool, Tool } from "./tools.ts";

export const killModes = ["runtime", "parent", "both", "parent, writers go on"] as const;
export type KillMode = (typeof killModes)[number];

export interface CrashSubject {
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
export async function runKills(
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
