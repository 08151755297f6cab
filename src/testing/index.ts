/**
 * `ledge/test`, for tests that the plugin of `ledge/vitest` runs: controls for the clock, faults,
 * calls and contents of the store, and for DNS. The end of a test undoes what the test did here.
 */
import { expect } from "vitest";
import {
  makeCallMatchers,
  queryMatchers,
  type CallMatchers,
  type QueryMatchers,
} from "./matchers.ts";
import type { Calls } from "./call-lists.ts";
import { poolState } from "./pool-state.ts";
import type { BucketReference, SeedValue, TestRuntime } from "./test-runtime.ts";

export type { Call } from "../store/core/fault.ts";
export type { CallMethod } from "../store/core/errors.ts";
export type { Duration } from "../base/format.ts";
export type { FaultEffect, FaultTarget, InjectedFault } from "../store/core/fault.ts";
export type { AnyCall, CallDetails } from "./call-details.ts";
export type { Calls } from "./call-lists.ts";
export type { BindingCall, BindingKind } from "./binding-call.ts";
export type { BindingFaultEffect } from "./binding-fault.ts";
export type { BindingFaultTarget, InjectedBindingFault } from "./binding-fault.ts";
export type { CallMatchers } from "./matchers.ts";
export type { BrokenSignature, ResolvedData, TestRecord } from "./dns-zones.ts";
export type { DnsFault, DnsFaultTarget, NotifyFaultTarget } from "./dns-zones.ts";
export type { DnsQuery, QueryDetails, QueryMatchers } from "./matchers.ts";
export type { PresentedObject } from "./test-runtime.ts";
export type { BucketReference, DescribedValue, SeedValue, Snapshot } from "./test-runtime.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-unused-vars, typescript/no-explicit-any -- as vitest has it
  interface Matchers<T = any> extends CallMatchers, QueryMatchers {}
}

const state = poolState();
const { runtime, calls: poolCalls } = state;

// Matchers have no time to ask, so the names are asked for when the first test file of the isolate loads this.
state.names ??= await runtime.knownNames();
expect.extend({ ...makeCallMatchers(state.names), ...queryMatchers });

/** The clock of the store, and of `Date` in script and tests: `now`, `set`, `advance("7d")`. */
export const clock: TestRuntime["clock"] = runtime.clock;

/** Faults: calls `fail`, are `slow`, or `drop` their connection. */
export const faults: TestRuntime["faults"] = runtime.faults;

/** Zones and records of a test, and the answers that resolvers receive. */
export const dns: TestRuntime["dns"] = runtime.dns;

/**
 * The calls of buckets, KV, D1, R2, caches, Durable Objects, services, queues and `fetch()` since the test began, by
 * script and test.
 */
export const calls: Calls = poolCalls;

/**
 * Puts objects into a bucket: the given objects by key, or the files of a folder of the project.
 *
 * @example
 * await seed(env.PHOTOS, { "a.txt": "one", "b.txt": "two" });
 * await seed(env.PHOTOS, "test/photos");
 */
export async function seed(
  bucket: BucketReference,
  objects: Record<string, SeedValue> | string,
): Promise<void> {
  if (typeof objects === "string") await runtime.seedFolder(bucket, objects);
  else await runtime.seed(bucket, objects);
}

/** The objects of a bucket by key: their text, or a description of other bytes. */
export const contents: TestRuntime["contents"] = runtime.contents.bind(runtime);

/** Takes a snapshot of the state of all bindings. */
export const snapshot: TestRuntime["snapshot"] = runtime.snapshot.bind(runtime);

/** Restores a snapshot of this test: the last snapshot by default. */
export const restore: TestRuntime["restore"] = runtime.restore.bind(runtime);
