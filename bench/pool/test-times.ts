/** A reporter of vitest that writes when each test began, as JSON, to the file that `TEST_TIMES` names. */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export interface TestTimes {
  /** The outermost block of the test; empty outside of blocks. */
  readonly block: string;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly duration: number;
  readonly isPassed: boolean;
}

export default class TestTimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const times = tests.map((test): TestTimes => {
      const { startTime = NaN, duration = NaN } = test.diagnostic() ?? {};
      const [block = ""] = test.fullName.split(" > ").slice(0, -1);
      return { block, startTime, duration, isPassed: test.ok() };
    });
    writeFileSync(process.env["TEST_TIMES"] as string, JSON.stringify(times));
  }
}
