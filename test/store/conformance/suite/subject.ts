/**
 * The subject of the suite: a bucket, and the runtime in which the tests run.
 *
 * The suite uses only the interface of the binding. Every difference between a script in workerd and a
 * Node process is a member of `Subject`, so the tests are the same code in both. The variables that
 * this module exports are those of the subject whose block runs.
 */
import { beforeAll, describe, it } from "vitest";
import type { StoreBucket, StoreObject } from "../../../../src/types/store.ts";

/** The bindings of `bindings.ts`. */
export interface ConformanceEnv {
  /** A bucket for the suite alone: each test has keys of its own. */
  BUCKET: StoreBucket;
  /** The same bucket, compatibility date 2022-08-03. */
  OLD_DATE: StoreBucket;
  /** The same bucket, compatibility date 2022-08-03 and `store_list_honor_include`. */
  OLD_DATE_FLAG: StoreBucket;
  /** The same bucket, compatibility date 2022-08-04: the first date that honours `include`. */
  HONOR_DATE: StoreBucket;
  /** The same bucket with `store_list_trailing_delimiter`. */
  TRAILING: StoreBucket;
  /** Another bucket, whose default storage class is `InfrequentAccess`. */
  INFREQUENT: StoreBucket;
  /** Moves the store's clock. */
  STORE_CONTROL: {
    now(): Promise<number>;
    advance(milliseconds: number): Promise<void>;
    resetClock(): Promise<void>;
  };
}

export interface Subject {
  readonly name: string;
  /**
   * workerd has `FixedLengthStream`, and refuses a stream of unknown length. Node does not have the
   * class, and allows a stream of unknown length.
   */
  readonly runtime: "workerd" | "node";
  /** Called when a test first needs it: in Node, a runtime must start. */
  readonly environment: () => Promise<ConformanceEnv>;
  /**
   * Tests that fail on this subject by design, with the reasons. The name is that of the test with the
   * names of its blocks: `expiry > objects do not expire`. Such a test is inverted rather than left
   * out: the run fails when the test succeeds, and when a name is that of no test.
   */
  readonly deviations?: Readonly<Record<string, string>>;
}

/** The same object without the types of parameters, for calls with bad arguments. */
type Loose<Strict> = {
  [Name in keyof Strict]: Strict[Name] extends (...parameters: never[]) => infer Result
    ? (...parameters: unknown[]) => Result
    : Strict[Name];
};

export function loosely<Strict>(object: Strict): Loose<Strict> {
  return object as unknown as Loose<Strict>;
}

export let runtime: Subject["runtime"];
export let env: ConformanceEnv;
export let bucket: StoreBucket;
export let loose: Loose<StoreBucket>;

export function defineSuite(subject: Subject, blocks: readonly (() => void)[]): void {
  describe(`StoreBucket, ${subject.name}`, () => {
    ({ runtime } = subject);
    // oxlint-disable-next-line no-empty-pattern -- vitest requires a pattern for the first argument
    beforeAll(async ({}, block) => {
      invertTests(block, subject.deviations ?? {});
      ({ runtime } = subject);
      env = await subject.environment();
      bucket = env.BUCKET;
      loose = loosely(bucket);
    });
    for (const define of blocks) define();
  });
}

interface Task {
  readonly name: string;
  fails?: boolean;
  readonly tasks?: readonly Task[];
}

function invertTests(block: Task, deviations: NonNullable<Subject["deviations"]>): void {
  const left = new Set(Object.keys(deviations));
  const visit = ({ tasks = [] }: Task, path: string): void => {
    for (const task of tasks) {
      if (task.tasks !== undefined) visit(task, `${path}${task.name} > `);
      else if (left.delete(path + task.name)) task.fails = true;
    }
  };
  visit(block, "");
  if (left.size > 0) throw new Error(`The suite has no test ${[...left].join(", ")}`);
}

/**
 * Defines a test for one runtime only. In the other runtime the test does not exist, rather than
 * being skipped, because the runtime cannot express the case.
 */
export function onlyIn(
  place: Subject["runtime"],
): (name: string, test: () => void | Promise<void>) => void {
  // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- the caller passes the name and the test
  return (name, test) => void (runtime === place && it(name, test));
}

let run: string | undefined;
let count = 0;

/**
 * A key that no other test uses, also when vitest runs the file again in watch mode. No key is a
 * prefix of another, so a test can list by its own key. It contains letters and digits only.
 */
export function freshKey(): string {
  run ??= crypto.randomUUID().slice(0, 8);
  count += 1;
  return `key${run}x${String(count).padStart(5, "0")}`;
}

/** Waits for the result of a call that must find an object. */
export async function present<Found>(result: Promise<Found | null>): Promise<Found> {
  const found = await result;
  if (found === null) throw new Error("Expected an object, but the call resolved with null");
  return found;
}

export const headOf = (key: string) => present(bucket.head(key));
export const textOf = async (key: string) => (await present(bucket.get(key))).text();
export const bytesAt = async (key: string) => (await present(bucket.get(key))).bytes();

export const metadataOf = ({ httpMetadata, customMetadata, storageClass }: StoreObject) => {
  return { httpMetadata, customMetadata, storageClass };
};
export const noMetadata = { httpMetadata: {}, customMetadata: {}, storageClass: "Standard" };
