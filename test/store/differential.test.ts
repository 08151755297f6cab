/**
 * The same sequences on the binding and on Miniflare's R2, in one process. Each difference must
 * match an entry of `differential.expectations.ts`, and each entry must still occur.
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { propertyRuns } from "../support/property-runs.ts";
import { differencesBetween, formatDifference, type Difference } from "./model/difference.ts";
import { sequence } from "./model/generate/sequence.ts";
import { normalise, type Observation } from "./model/normalise.ts";
import type { Operation } from "./model/operation.ts";
import { bindings, Runtime, type Binding } from "./model/runtime.ts";
import { expectations, type Expectation } from "./differential.expectations.ts";

/** A fixed seed: the differences between two implementations are the same in each run. */
const seed = Number(process.env["LEDGE_SEED"] ?? 20_260_801);
const runs = Number(process.env["LEDGE_RUNS"] ?? propertyRuns({ few: 8, all: 40 }));
const callsMin = runs * 10;

let runtime: Runtime;

beforeAll(async () => {
  runtime = await Runtime.start();
});

afterAll(async () => {
  await runtime.stop();
});

interface Comparison {
  readonly unexpected: Difference[];
  readonly matched: Set<string>;
  /** Number of compared calls. Calls after a divergence are not compared. */
  readonly calls: number;
}

async function compare(operations: readonly Operation[], ours: Binding): Promise<Comparison> {
  const [observed, reference] = await Promise.all([
    observe(ours, operations),
    observe(bindings.theirs, operations),
  ]);
  const comparison = { unexpected: [] as Difference[], matched: new Set<string>(), calls: 0 };
  for (const [index, observation] of observed.entries()) {
    const theirs = reference[index];
    if (theirs === undefined) throw new Error(`R2 returned no outcome for operation ${index}`);
    comparison.calls++;
    const found = differencesBetween(observation, theirs).map((difference) => ({
      difference,
      matches: expectations.filter(({ when }) => when(difference)),
    }));
    for (const { difference, matches } of found) {
      if (matches.length === 0) comparison.unexpected.push(difference);
      for (const { id } of matches) comparison.matched.add(id);
    }
    if (found.some(({ matches }) => matches.some(({ diverges }) => diverges))) break;
  }
  return comparison;
}

async function observe(binding: Binding, operations: readonly Operation[]): Promise<Observation[]> {
  const outcomes = await runtime.run(binding, operations);
  await runtime.empty(binding);
  return normalise(operations, outcomes, { partEtags: "named" });
}

test(
  "StoreBucket and R2Bucket differ only as expected in random sequences",
  { timeout: 120_000 },
  async () => {
    let calls = 0;
    const operations = sequence({ lengthMax: 50, comparable: true }).map((steps) =>
      steps.filter((step): step is Operation => !("restart" in step)),
    );
    const property = fc.asyncProperty(operations, async (generated) => {
      const comparison = await compare(generated, bindings.oursWithTrailingDelimiter);
      calls += comparison.calls;
      expect(comparison.unexpected.map(formatDifference)).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs, seed });
    expect(calls).toBeGreaterThan(callsMin);
  },
);

test.each(expectations.map((expectation) => [expectation.id, expectation] as const))(
  "StoreBucket and R2Bucket still differ in %s",
  async (id, { provoke, withoutTrailingDelimiter }: Expectation) => {
    const ours = withoutTrailingDelimiter ? bindings.ours : bindings.oursWithTrailingDelimiter;
    const { unexpected, matched } = await compare(provoke, ours);
    expect(unexpected.map(formatDifference)).toEqual([]);
    expect([...matched]).toContain(id);
  },
);
