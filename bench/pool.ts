/**
 * Tests in the vitest pool: isolated tests on a bucket against the same tests on the pool's R2 with
 * `reset()` after each, and 200 tests on an empty bucket against 200 on a bucket of 100,000 objects. Then the
 * same for KV, D1 and Durable Objects: `reset()` and new seeds for each test, and no isolation at all.
 *
 *     npm run bench -- pool [--tests 1000]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { TestTimes } from "./pool/test-times.ts";
import { median } from "./store/measure.ts";

const { values } = parseArgs({ options: { tests: { type: "string", default: "1000" } } });

// The projects run one after the other, because concurrent runs would slow each other down.
const [store, r2] = ["store", "r2"].map((project) => {
  const starts = run("./pool", { TESTS: values.tests }, [`--project=${project}`]).map(
    ({ startTime }) => startTime,
  );
  return Math.max(...starts) - Math.min(...starts);
}) as [number, number];
console.log(`${values.tests} tests that put and read 10 objects, milliseconds`);
console.log(`  isolated, on a bucket        ${store.toFixed(0).padStart(8)}`);
console.log(`  reset(), on the pool's R2    ${r2.toFixed(0).padStart(8)}`);
console.log(`  ${(r2 / store).toFixed(1)} times as fast`);

const manyTests = run("../test/tools/fixtures/many", {});
console.log(
  "\n200 tests that put an object, milliseconds from test to test (median, 95th percentile)",
);
for (const block of ["none", "100,000", "none again"]) {
  printIntervals(`seeded objects: ${block}`, ofBlock(manyTests, block));
}

console.log(`\n${values.tests} tests, milliseconds from test to test (median, 95th percentile)`);
for (const [project, text] of [
  ["isolated", "write to KV, D1 and a Durable Object, isolated"],
  ["reset", "the same, reset() and new seeds for each test"],
  ["leaking", "the same, without isolation"],
  ["nothing", "touch nothing, isolated"],
  ["stock nothing", "touch nothing, without isolation"],
] as const) {
  printIntervals(text, run("./pool", { TESTS: values.tests }, [`--project=${project}`]));
}

const largeDatabase = run("./pool", {}, ["--project=large-database"]);
console.log("\n200 tests that write a row to D1, milliseconds from test to test");
for (const block of ["none", "100 MB", "none again"]) {
  printIntervals(`seeded: ${block}`, ofBlock(largeDatabase, block));
}

function ofBlock(tests: readonly TestTimes[], name: string): TestTimes[] {
  return tests.filter(({ block }) => block === name);
}

/** From the start of a test to the start of the next: with what isolation does in between. */
function printIntervals(text: string, tests: readonly TestTimes[]): void {
  const starts = tests.map(({ startTime }) => startTime).toSorted((one, other) => one - other);
  const intervals = starts.slice(1).map((start, index) => start - (starts[index] as number));
  const high = intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length * 0.95)];
  console.log(
    `  ${text.padEnd(50)} ${median(intervals).toFixed(1).padStart(8)} ${high?.toFixed(1).padStart(8)}`,
  );
}

function run(
  folder: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): readonly TestTimes[] {
  const work = mkdtempSync(join(tmpdir(), "ledge-bench-"));
  try {
    const times = join(work, "times.json");
    const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
    const reporter = fileURLToPath(new URL("pool/test-times.ts", import.meta.url));
    spawnSync(process.execPath, [vitest, "run", `--reporter=${reporter}`, ...args], {
      cwd: fileURLToPath(new URL(folder, import.meta.url)),
      env: { ...process.env, ...env, TEST_TIMES: times },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const tests = JSON.parse(readFileSync(times, "utf8")) as readonly TestTimes[];
    const failed = tests.filter(({ isPassed }) => !isPassed);
    if (failed.length > 0) throw new Error(`${failed.length} tests of ${folder} failed`);
    return tests;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
