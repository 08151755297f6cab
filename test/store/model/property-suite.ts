/**
 * Random sequences of operations on the real binding, in workerd, against the in-memory model of
 * this folder. Some sequences restart the runtime halfway.
 *
 * A failure prints fast-check's seed and path. `LEDGE_SEED` and `LEDGE_PATH` replay the failure;
 * `LEDGE_RUNS` sets the number of sequences; `npm run test:long -- numbers` tries more of them (`LEDGE_ROUNDS`).
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { propertyRuns } from "../../support/property-runs.ts";
import type { Expectation } from "../differential.expectations.ts";
import { differencesBetween, formatDifference, type Difference } from "./difference.ts";
import { heavyBucket, largeBucket } from "./generate/large-bucket.ts";
import { sequence } from "./generate/sequence.ts";
import { runModel } from "./model-platform.ts";
import { ModelBucket } from "./model.ts";
import { normalise } from "./normalise.ts";
import type { Operation, Outcome, Step } from "./operation.ts";
import { bindings, type Runtime } from "./runtime.ts";

/** No sequence starts later, so a slow machine tries fewer, and a failure is not shrunk for ever. */
const sequencesMillisecondsMax = 120_000;
/** The last sequence runs to its end, also on a machine that is very busy. */
const timeout = 600_000;

const { LEDGE_SEED: seed, LEDGE_PATH: path } = process.env;
const replay = {
  ...(seed !== undefined && { seed: Number(seed) }),
  ...(path !== undefined && { path }),
};

const binding = bindings.ours;

export interface PropertySubject {
  readonly name: string;
  /** Starts a runtime on empty buckets. */
  readonly start: () => Promise<Runtime>;
  readonly runs: { readonly few: number; readonly all: number };
  /** The files of large values, of a bucket that keeps them in files. */
  readonly filesOf?: (runtime: Runtime) => Promise<string[]>;
  /** The most keys of a large bucket. A service needs a request for each listed key. */
  readonly listedKeysMax: number;
  /** Replaces what the bucket does not take by design. */
  readonly adapt?: <Steps extends readonly Step[]>(steps: Steps) => Steps;
  /** Whether the bucket takes 8 KiB of metadata. */
  readonly hasLargeMetadata: boolean;
  /** Whether the bucket has the times of completed uploads in whole seconds. */
  readonly hasCoarseTimes: boolean;
  /** Differences to the model that are by design. After one that diverges, the rest is not compared. */
  readonly expectations?: readonly Pick<Expectation, "when" | "diverges">[];
}

export function propertySuite(subject: PropertySubject): void {
  const runs = Number(process.env["LEDGE_RUNS"] ?? propertyRuns(subject.runs));
  let runtime: Runtime;

  beforeAll(async () => {
    runtime = await subject.start();
  });

  afterAll(async () => {
    await runtime.stop();
  });

  /** A failed sequence may leave objects behind, so the next sequence runs on a new runtime. */
  const check = async (steps: readonly Step[]): Promise<Counts> => {
    try {
      return await checkSteps(subject.adapt?.(steps) ?? steps, runtime, subject);
    } catch (error) {
      await runtime.stop();
      runtime = await subject.start();
      throw error;
    }
  };

  describe(`StoreBucket${subject.name}`, () => {
    test("agrees with the model in random sequences with restarts", { timeout }, async () => {
      let sequences = 0;
      let calls = 0;
      let restarts = 0;
      const steps = sequence({ lengthMax: 60, restartEvery: 200, comparable: false });
      const checkSequence = untilLate(async (sequenceOfSteps: readonly Step[]) => {
        const counts = await check(sequenceOfSteps);
        sequences++;
        calls += counts.calls;
        restarts += counts.restarts;
      });
      await fc.assert(fc.asyncProperty(steps, checkSequence), { numRuns: runs, ...replay });
      expect(sequences).toBeGreaterThan(0);
      if ("path" in replay || "LEDGE_RUNS" in process.env || sequences < runs) return;
      expect(calls).toBeGreaterThan(runs * 10);
      // In few sequences there may be no restart.
      expect(restarts).toBeGreaterThanOrEqual(runs >= 100 ? 1 : 0);
    });

    test("list() agrees with the model on the pages of a large bucket", { timeout }, async () => {
      const buckets = largeBucket(subject.listedKeysMax);
      const checkBucket = untilLate(async (operations: readonly Operation[]) => {
        const { calls } = await check(operations);
        expect(calls).toBeGreaterThan(100);
      });
      const numRuns = propertyRuns({ few: 1, all: 3 });
      await fc.assert(fc.asyncProperty(buckets, checkBucket), { numRuns, ...replay });
    });

    if (!subject.hasLargeMetadata) return;
    test("list() returns metadata of any size, page by page", async () => {
      const { calls } = await check(heavyBucket);
      expect(calls).toBe(103);
    });
  });
}

/** Runs the first value, and others until it is late. */
function untilLate<Value>(run: (value: Value) => Promise<void>): (value: Value) => Promise<void> {
  let end: number | undefined;
  return async (value) => {
    const isLate = end !== undefined && Date.now() > end;
    end ??= Date.now() + sequencesMillisecondsMax;
    if (!isLate) await run(value);
  };
}

interface Counts {
  readonly calls: number;
  readonly restarts: number;
}

async function checkSteps(
  steps: readonly Step[],
  runtime: Runtime,
  { filesOf, expectations = [], hasCoarseTimes }: PropertySubject,
): Promise<Counts> {
  const operations = steps.filter((step): step is Operation => !("restart" in step));
  const model = new ModelBucket({ trailingDelimiter: false });
  const expected = normalise(operations, await runModel(model, operations), { partEtags: "exact" });
  const outcomes = await runWithRestarts(steps, runtime, hasCoarseTimes ? 1000 : 1);
  const observed = normalise(operations, outcomes, { partEtags: "exact" });

  const differences = observed.flatMap((observation, index) => {
    const wanted = expected[index];
    return wanted === undefined ? [] : differencesBetween(observation, wanted);
  });
  const isExpected = (difference: Difference, diverges: boolean): boolean =>
    expectations.some((each) => (each.diverges ?? false) === diverges && each.when(difference));
  const first = differences.find((each) => !isExpected(each, false));
  const isDiverged = first !== undefined && isExpected(first, true);
  if (first !== undefined && !isDiverged) {
    throw new Error(`The binding and the model ("theirs") differ.\n${formatDifference(first)}`);
  }

  const expectFiles = async (count: number): Promise<void> => {
    // The store may remove files of replaced values after it answers, so the check waits.
    if (filesOf !== undefined)
      await expect.poll(() => filesOf(runtime), { timeout: 60_000 }).toHaveLength(count);
  };
  if (!isDiverged) await expectFiles(model.countLargeValues());
  await runtime.empty(binding);
  await expectFiles(0);
  return { calls: observed.length, restarts: steps.length - operations.length };
}

async function runWithRestarts(
  steps: readonly Step[],
  runtime: Runtime,
  precisionMilliseconds: number,
): Promise<Outcome[][]> {
  const outcomes: Outcome[][] = [];
  let pending: Operation[] = [];
  const flush = async (): Promise<void> => {
    if (pending.length === 0) return;
    const begin = Math.floor(Date.now() / precisionMilliseconds) * precisionMilliseconds;
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

/** The objects that `put` and `complete` return carry the time of the call. */
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
