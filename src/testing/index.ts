/**
 * `ledge/test`, in tests that the plugin of `ledge/vitest` runs: the store's time, faults, calls
 * and contents under control. Whatever a test does here is over when it ends.
 */
import { expect } from "vitest";
import type { Call } from "../store/core/recorded-call.ts";
import { callMatchers, type CallMatchers } from "./call-matchers.ts";
import { poolState } from "./pool-state.ts";
import type { BucketReference, SeedValue, Snapshot, TestRuntime } from "./test-runtime.ts";

export type { Call, CallMethod } from "../store/core/recorded-call.ts";
export type { Duration } from "../base/duration.ts";
export type { FaultTarget } from "../store/core/store-fault.ts";
export type { CallDetails, CallMatchers } from "./call-matchers.ts";
export type { TestRecord } from "./dns-zones.ts";
export type { PresentedObject } from "./presented-object.ts";
export type { BucketReference, DescribedValue, SeedValue, Snapshot } from "./test-runtime.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-unused-vars, typescript/no-explicit-any -- as vitest has it
  interface Matchers<T = any> extends CallMatchers {}
}

expect.extend(callMatchers);

const { store, calls: noted } = poolState();

/** The store's time: `now`, `set`, `advance("7d")`. */
export const clock: TestRuntime["clock"] = store.clock;

/** Make calls `fail`, `slow` them down, or `drop` their connection. */
export const faults: TestRuntime["faults"] = store.faults;

/** Zones and records for a test, and what resolvers get. */
export const dns: TestRuntime["dns"] = store.dns;

/** What was done to the buckets since the test began, by the script or by the test. */
export const calls: readonly Call[] = noted;

/**
 * Puts objects into a bucket: by key, or the files of a folder of the project.
 *
 * @example
 * await seed(env.PHOTOS, { "a.txt": "one", "b.txt": "two" });
 * await seed(env.PHOTOS, "test/photos");
 */
export async function seed(
  bucket: BucketReference,
  objects: Record<string, SeedValue> | string,
): Promise<void> {
  if (typeof objects === "string") await store.seedFolder(bucket, objects);
  else await store.seed(bucket, objects);
}

/** What is in a bucket, by key: text as it is, and bytes by what stands for them. */
export const contents: TestRuntime["contents"] = store.contents.bind(store);

/** Remembers how buckets and DNS are now. */
export function snapshot(): Promise<Snapshot> {
  return store.snapshot();
}

/** Brings buckets and DNS back to a snapshot of this test: to the last, if none is given. */
export function restore(to?: Snapshot): Promise<void> {
  return store.restore(to);
}
