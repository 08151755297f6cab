/**
 * The same sequences on the binding and on Miniflare's R2, in one process. Each difference must
 * match an expectation, and each expectation must still occur.
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { propertyRuns } from "../../support/property-runs.ts";
import { differencesBetween, formatDifference, type Difference } from "./difference.ts";
import { sequence } from "./generate/sequence.ts";
import { normalise, type Observation } from "./normalise.ts";
import type { Operation } from "./operation.ts";
import { bindings, type Binding, type Runtime } from "./runtime.ts";
import type { Expectation } from "../differential.expectations.ts";

/** A fixed seed: the differences between two implementations are the same in each run. */
const seed = Number(process.env["LEDGE_SEED"] ?? 20_260_801);
export interface DifferentialSubject {
  readonly name: string;
  /** Starts a runtime on empty buckets. */
  readonly start: () => Promise<Runtime>;
  readonly runs: { readonly few: number; readonly all: number };
  readonly expectations: readonly Expectation[];
  /** Replaces what the bucket does not take by design. */
  readonly adapt?: <Steps extends readonly Operation[]>(operations: Steps) => Steps;
}

export function differentialSuite(subject: DifferentialSubject): void {
  const { expectations } = subject;
  const runs = Number(process.env["LEDGE_RUNS"] ?? propertyRuns(subject.runs));
  let runtime: Runtime;

  beforeAll(async () => {
    runtime = await subject.start();
  });

  afterAll(async () => {
    await runtime.stop();
  });

  const compare = (ours: Binding, operations: readonly Operation[]): Promise<Comparison> =>
    compareOn(runtime, ours, { operations, expectations });

  describe(`StoreBucket${subject.name}`, () => {
    test(
      "and R2Bucket differ only as expected in random sequences",
      { timeout: 600_000 },
      async () => {
        let calls = 0;
        const operations = sequence({ lengthMax: 50, comparable: true }).map((steps) =>
          steps.filter((step): step is Operation => !("restart" in step)),
        );
        const property = fc.asyncProperty(operations, async (generated) => {
          const comparison = await compare(
            bindings.oursWithTrailingDelimiter,
            subject.adapt?.(generated) ?? generated,
          );
          calls += comparison.calls;
          expect(comparison.unexpected.map(formatDifference)).toEqual([]);
        });
        await fc.assert(property, { numRuns: runs, seed });
        expect(calls).toBeGreaterThan(runs * 10);
      },
    );

    test.each(expectations.map((expectation) => [expectation.id, expectation] as const))(
      "and R2Bucket still differ in %s",
      async (id, { provoke, withoutTrailingDelimiter }: Expectation) => {
        const ours = withoutTrailingDelimiter ? bindings.ours : bindings.oursWithTrailingDelimiter;
        const { unexpected, matched } = await compare(ours, provoke);
        expect(unexpected.map(formatDifference)).toEqual([]);
        expect([...matched]).toContain(id);
      },
    );
  });
}

interface Compared {
  readonly operations: readonly Operation[];
  readonly expectations: readonly Expectation[];
}

interface Comparison {
  readonly unexpected: Difference[];
  readonly matched: Set<string>;
  /** Number of compared calls. Calls after a divergence are not compared. */
  readonly calls: number;
}

async function compareOn(
  runtime: Runtime,
  ours: Binding,
  { operations, expectations }: Compared,
): Promise<Comparison> {
  const [observed, reference] = await Promise.all([
    observe(runtime, ours, operations),
    observe(runtime, bindings.theirs, operations),
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

async function observe(
  runtime: Runtime,
  binding: Binding,
  operations: readonly Operation[],
): Promise<Observation[]> {
  const outcomes = await runtime.run(binding, operations);
  await runtime.empty(binding);
  return normalise(operations, outcomes, { partEtags: "named" });
}
