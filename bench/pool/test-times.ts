/**
 * A reporter of vitest that writes when each test began, and how the memory of the runtime grew, as JSON, to the file
 * that `TEST_TIMES` names.
 */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { residentBytesByProcess } from "../process-tree.ts";

export interface TestRun {
  readonly tests: readonly TestTimes[];
  /** From the 500th test to the last: the first tests fill caches. `NaN` for fewer than 1,000 tests */
  readonly bytesPerTest: number;
}

export interface TestTimes {
  /** The outermost block of the test; empty outside of blocks. */
  readonly block: string;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly isPassed: boolean;
}

export default class TestTimesReporter implements Reporter {
  /** After each 500 tests */
  readonly #memory: number[] = [];
  #ended = 0;

  onTestCaseResult(): void {
    if (++this.#ended % 500 === 0) this.#memory.push(runtimeBytes());
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const times = tests.map((test): TestTimes => {
      const [block = ""] = test.fullName.split(" > ").slice(0, -1);
      return { block, startTime: test.diagnostic()?.startTime ?? NaN, isPassed: test.ok() };
    });
    const [first = NaN, last = NaN] = [this.#memory[0], this.#memory.at(-1)];
    const bytesPerTest = (last - first) / (500 * (this.#memory.length - 1));
    const run: TestRun = { tests: times, bytesPerTest };
    writeFileSync(process.env["TEST_TIMES"] as string, JSON.stringify(run));
  }
}

/** Of all processes that vitest has started. */
function runtimeBytes(): number {
  const bytes = residentBytesByProcess(process.pid);
  bytes.delete(process.pid);
  return bytes.values().reduce((sum, each) => sum + each, 0);
}
