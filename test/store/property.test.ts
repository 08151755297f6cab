/**
 * Random sequences of operations on the real binding, in workerd and on disk, against the
 * in-memory model of `test/store/model`. Some sequences restart the runtime halfway.
 *
 * A failure prints fast-check's seed and path. `LEDGE_SEED` and `LEDGE_PATH` replay the failure;
 * `LEDGE_RUNS` sets the number of sequences; `.ci/run` tries more of them (`LEDGE_ROUNDS`).
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { propertyRuns } from "../support/property-runs.ts";
import { differencesBetween, formatDifference } from "./model/difference.ts";
import { heavyBucket, largeBucket } from "./model/generate/large-bucket.ts";
import { sequence } from "./model/generate/sequence.ts";
import { runModel } from "./model/model-platform.ts";
import { ModelBucket } from "./model/model.ts";
import { normalise } from "./model/normalise.ts";
import type { Operation, Outcome, Step } from "./model/operation.ts";
import { bindings, Runtime } from "./model/runtime.ts";

const runs = Number(process.env["LEDGE_RUNS"] ?? propertyRuns({ few: 15, all: 100 }));
const callsMin = runs * 10;
const shrinkMillisecondsMax = 150_000;

const { LEDGE_SEED: seed, LEDGE_PATH: path } = process.env;
const replay = {
  ...(seed !== undefined && { seed: Number(seed) }),
  ...(path !== undefined && { path }),
};

const binding = bindings.ours;
let runtime: Runtime;

beforeAll(async () => {
  runtime = await Runtime.start();
});

afterAll(async () => {
  await runtime.stop();
});

test(
  "StoreBucket agrees with the model in random sequences with restarts",
  { timeout: shrinkMillisecondsMax + 60_000 },
  async () => {
    let calls = 0;
    let restarts = 0;
    const steps = sequence({ lengthMax: 60, restartEvery: 200, comparable: false });
    const property = fc.asyncProperty(steps, async (sequenceOfSteps) => {
      const counts = await onFreshRuntime(() => check(sequenceOfSteps));
      calls += counts.calls;
      restarts += counts.restarts;
    });
    await fc.assert(property, {
      numRuns: runs,
      interruptAfterTimeLimit: shrinkMillisecondsMax,
      markInterruptAsFailure: true,
      ...replay,
    });
    if ("path" in replay || "LEDGE_RUNS" in process.env) return;
    expect(calls).toBeGreaterThan(callsMin);
    // In few sequences there may be no restart.
    expect(restarts).toBeGreaterThanOrEqual(runs >= 100 ? 1 : 0);
  },
);

test(
  "StoreBucket.list() agrees with the model on the pages of a large bucket",
  { timeout: 120_000 },
  async () => {
    const property = fc.asyncProperty(largeBucket, async (operations) => {
      const { calls } = await onFreshRuntime(() => check(operations));
      expect(calls).toBeGreaterThan(100);
    });
    await fc.assert(property, { numRuns: propertyRuns({ few: 1, all: 3 }), ...replay });
  },
);

test("StoreBucket.list() returns metadata of any size, page by page", async () => {
  const { calls } = await onFreshRuntime(() => check(heavyBucket));
  expect(calls).toBe(103);
});

/** A failed sequence may leave objects behind, so the next sequence runs on a new runtime. */
async function onFreshRuntime<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    await runtime.stop();
    runtime = await Runtime.start();
    throw error;
  }
}

async function check(steps: readonly Step[]): Promise<{ calls: number; restarts: number }> {
  const operations = steps.filter((step): step is Operation => !("restart" in step));
  const model = new ModelBucket({ trailingDelimiter: false });
  const expected = normalise(operations, await runModel(model, operations), { partEtags: "exact" });
  const outcomes = await runWithRestarts(steps);
  const observed = normalise(operations, outcomes, { partEtags: "exact" });

  const differences = observed.flatMap((observation, index) => {
    const wanted = expected[index];
    return wanted === undefined ? [] : differencesBetween(observation, wanted);
  });
  const [first] = differences;
  if (first !== undefined) {
    throw new Error(`The binding and the model ("theirs") differ.\n${formatDifference(first)}`);
  }

  await expectLargeValues(model.countLargeValues());
  await runtime.empty(binding);
  await expectLargeValues(0);
  return { calls: observed.length, restarts: steps.length - operations.length };
}

async function runWithRestarts(steps: readonly Step[]): Promise<Outcome[][]> {
  const outcomes: Outcome[][] = [];
  let pending: Operation[] = [];
  const flush = async (): Promise<void> => {
    if (pending.length === 0) return;
    const begin = Date.now();
    const flushed = await runtime.run(binding, pending);
    expectUploadedBetween(flushed, { begin, end: Date.now() });
    outcomes.push(...flushed);
    pending = [];
  };
  for (const step of steps) {
    if ("restart" in step) {
      await flush();
      await runtime.restart();
    } else {
      pending.push(step);
    }
  }
  await flush();
  return outcomes;
}

/** The objects that `put` and `complete` return carry the time of the call, in milliseconds. */
function expectUploadedBetween(
  outcomes: readonly Outcome[][],
  { begin, end }: { begin: number; end: number },
): void {
  const stored = outcomes.flat().flatMap((outcome) => {
    const value = "value" in outcome ? outcome.value : null;
    // Results of other methods carry a range, or are lists.
    if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
    return "range" in value || typeof value["uploaded"] !== "number" ? [] : [value["uploaded"]];
  });
  for (const uploaded of stored) {
    expect(uploaded).toBeGreaterThanOrEqual(begin);
    expect(uploaded).toBeLessThanOrEqual(end);
  }
}

/** The store may remove files of replaced values after it answers, so the check waits. */
async function expectLargeValues(count: number): Promise<void> {
  await expect.poll(() => runtime.blobFiles(), { timeout: 5000 }).toHaveLength(count);
}
