/**
 * The controls of `ledge/test` for tests that run in Node and start a runtime themselves.
 *
 *     const miniflare = new Miniflare({ workers: [{ config: { …, env: { …, ...testBindings() } } }] });
 *     const control = await testControl(miniflare);
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { lookup } from "mrmime";
import { pluginPath } from "../base/runtime.ts";
import { controlBinding, dnsBinding, findControls } from "./controls.ts";
import { TestRuntime, type BucketReference, type SeedValue } from "./test-runtime.ts";

interface Runtime {
  getBindings(workerName?: string): Promise<Record<string, unknown>>;
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

/** @param workerName the worker with `testBindings()`: the first worker by default */
export async function testControl(runtime: Runtime, workerName?: string): Promise<TestControl> {
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
