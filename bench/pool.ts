/**
 * Tests in the vitest pool, with the isolation of Ledge and on the pool alone, in turns: tests that touch nothing, that
 * read, and that write. Then what `reset()` and new seeds for each test cost, and tests on large buckets and databases.
 *
 *     npm run bench -- pool [--tests 5000] [--rounds 1] [--quick]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { TestRun, TestTimes } from "./pool/test-times.ts";

const { values } = parseArgs({
  options: {
    tests: { type: "string", default: "5000" },
    rounds: { type: "string", default: "1" },
    /** The first table alone */
    quick: { type: "boolean", default: false },
  },
});

const head = ["mean", "95th", "KB a test"].map((text) => text.padStart(10)).join("");
console.log(`${`${values.tests} tests, milliseconds from test to test`.padEnd(52)}${head}`);
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [kind, text] of [
    ["trivial", "touch nothing"],
    ["reading", "read from KV and D1"],
    ["writing", "write to KV, D1 and a Durable Object"],
  ] as const) {
    // One after the other, because concurrent runs would slow each other down.
    for (const [side, name] of [
      ["stock", "the pool alone"],
      ["ledge", "isolated"],
    ] as const) {
      const { tests, bytesPerTest } = run(`${side}-${kind}`, values.tests);
      printIntervals(`${text}, ${name}`, tests, (bytesPerTest / 1024).toFixed(1));
    }
  }
}
if (!values.quick) printOthers();

function printOthers(): void {
  console.log("\n1000 tests that write");
  printIntervals("reset() and new seeds for each test", run("reset").tests);
  printIntervals("put and read ten objects of a bucket, isolated", run("store").tests);
  printIntervals("the same on the pool's R2, with reset()", run("r2").tests);

  console.log("\n200 tests in each block");
  printBlocks("many", "a bucket with objects");
  printBlocks("large-database", "a database of D1 with");
}

/** Blocks of tests on much data and on none. */
function printBlocks(project: string, text: string): void {
  const blocks = Map.groupBy(run(project).tests, ({ block }) => block);
  for (const [block, tests] of blocks) printIntervals(`${text}: ${block}`, tests);
}

/** From the start of a test to the start of the next: with what isolation does in between. */
function printIntervals(text: string, tests: readonly TestTimes[], memory = ""): void {
  const starts = tests.map(({ startTime }) => startTime).toSorted((one, other) => one - other);
  const intervals = starts.slice(1).map((start, index) => start - (starts[index] as number));
  const high = intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length * 0.95)];
  // The clock of the runtime has milliseconds, so the median of short tests says nothing.
  const mean = intervals.reduce((sum, each) => sum + each, 0) / intervals.length;
  const times = [mean.toFixed(2), high?.toFixed(1) ?? "", memory];
  console.log(`  ${text.padEnd(50)}${times.map((time) => time.padStart(10)).join("")}`);
}

function run(project: string, tests = "1000"): TestRun {
  const work = mkdtempSync(join(tmpdir(), "ledge-bench-"));
  try {
    const times = join(work, "times.json");
    const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
    const reporter = fileURLToPath(new URL("pool/test-times.ts", import.meta.url));
    const args = [vitest, "run", `--reporter=${reporter}`, `--project=${project}`];
    spawnSync(process.execPath, args, {
      cwd: fileURLToPath(new URL("pool", import.meta.url)),
      env: { ...process.env, TESTS: tests, TEST_TIMES: times },
      stdio: "ignore",
    });
    const result = JSON.parse(readFileSync(times, "utf8")) as TestRun;
    const failed = result.tests.filter(({ isPassed }) => !isPassed);
    if (failed.length > 0) throw new Error(`${failed.length} tests of ${project} failed`);
    return result;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
