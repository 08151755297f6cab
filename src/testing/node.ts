/**
 * The controls of `ledge/test` for tests that run in Node and start a runtime or a dev server themselves.
 *
 *     const miniflare = new Miniflare({ workers: [{ config: { …, env: { …, ...testBindings() } } }] });
 *     const control = await testControl(miniflare);
 *
 *     const control = await testControl(await startDev());
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { lookup } from "mrmime";
import { pluginPath } from "../base/runtime.ts";
import { controlBinding, dnsBinding, findControls } from "./controls.ts";
import { devControls, type DevControls, type ServedParts } from "./dev-controls.ts";
import type { Restored, StateControl } from "../saved/state-control.ts";
import { TestRuntime, type BucketReference, type SeedValue } from "./test-runtime.ts";

interface Runtime {
  getBindings(workerName?: string): Promise<Record<string, unknown>>;
}

/** A dev server of this process, `RunningDev`. */
export interface ControlledServer {
  readonly state: StateControl;
  readonly served: ServedParts;
}

interface TestBindingEntry {
  type: "unsafe:store_control" | "unsafe:dns";
  dev: { plugin: { package: string; name: "store" | "dns" }; options: Record<string, unknown> };
}

/** Entries for the `env` of a worker whose store and DNS tests control. */
export function testBindings(
  options: {
    /** The `[dns]` table, as in other bindings to DNS. */
    dns?: Record<string, unknown>;
  } = {},
): Record<string, TestBindingEntry> {
  return {
    [controlBinding]: {
      type: "unsafe:store_control",
      dev: { plugin: { package: pluginPath, name: "store" }, options: {} },
    },
    [dnsBinding]: {
      type: "unsafe:dns",
      dev: { plugin: { package: pluginPath, name: "dns" }, options: options.dns ?? {} },
    },
  };
}

export class TestControl extends TestRuntime {
  /** Puts objects into a bucket: by key, or the files below a folder. */
  override async seed(
    bucket: BucketReference,
    objects: Record<string, SeedValue> | string,
  ): Promise<void> {
    await super.seed(bucket, typeof objects === "string" ? readFolder(objects) : objects);
  }

  /**
   * Opens an isolation layer. The returned function undoes all later writes to buckets and to DNS,
   * removes faults, and moves the clock back. Calls of `isolate` may be nested.
   */
  async isolate(): Promise<() => Promise<void>> {
    const layer = await this.layers.open();
    return () => this.layers.close(layer);
  }
}

/** The controls of a dev server. It has no isolation layers: `isolate()` and `snapshot()` are refused. */
export class DevTestControl extends TestControl {
  /** Saves and restores states. `reset()` also ends the faults. */
  readonly state: StateControl;
  readonly #controls: DevControls;

  constructor(controls: DevControls, state: StateControl) {
    super(controls);
    this.#controls = controls;
    this.state = state;
  }

  /** Undoes what a test did: `clear()` and `state.reset()`. */
  async reset(): Promise<Restored> {
    await this.clear();
    const restored = await this.state.reset();
    await this.watchCalls();
    return restored;
  }

  /** Ends the faults, moves the clock back, and begins new lists of calls and of queries. */
  clear(): Promise<void> {
    return this.#controls.clear();
  }

  /** Ends the controls with their faults. The dev server runs on. */
  close(): Promise<void> {
    return this.#controls.close();
  }
}

export async function testControl(server: ControlledServer): Promise<DevTestControl>;
/** @param workerName the worker with `testBindings()`: the first worker by default */
export async function testControl(runtime: Runtime, workerName?: string): Promise<TestControl>;
export async function testControl(
  runtime: Runtime | ControlledServer,
  workerName?: string,
): Promise<TestControl> {
  if ("served" in runtime) {
    const control = new DevTestControl(devControls(runtime.served), runtime.state);
    await control.watchCalls();
    return control;
  }
  const controls = findControls(await runtime.getBindings(workerName));
  if (controls === null) {
    throw new Error("The worker has no store control: add testBindings() to its env.");
  }
  const control = new TestControl(controls);
  await control.watchCalls();
  return control;
}

function readFolder(folder: string): Record<string, SeedValue> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Cannot seed a bucket from "${folder}": there is no such folder.`);
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map((file) => {
      const key = relative(folder, file).replaceAll("\\", "/");
      const contentType = lookup(key);
      const value = readFileSync(file);
      return [key, { value, ...(contentType !== undefined && { httpMetadata: { contentType } }) }];
    }),
  );
}
