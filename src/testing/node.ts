/**
 * The controls of `ledge/test` for tests that run in Node, beside a runtime of their own.
 *
 *     const miniflare = new Miniflare({ workers: [{ config: { …, env: { …, ...testBindings() } } }] });
 *     const control = await testControl(miniflare);
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { lookup } from "mrmime";
import { pluginPath } from "../base/runtime.ts";
import { controlBinding, dnsBinding } from "./bindings.ts";
import type { DnsControls, StoreControls } from "./controls.ts";
import { TestStore, type BucketReference, type SeedValue } from "./test-store.ts";

/** As much of a Miniflare as is used. */
interface Runtime {
  getBindings(workerName?: string): Promise<Record<string, unknown>>;
}

/** An entry of Miniflare's `env` that leads to a control. */
interface TestBindingEntry {
  type: "unsafe:store_control" | "unsafe:dns";
  dev: { plugin: { package: string; name: "store" | "dns" }; options: Record<string, unknown> };
}

/** Entries for the `env` of a worker whose store, and whose DNS, tests are going to control. */
export function testBindings(
  options: {
    /** The `[dns]` table, as other bindings to DNS have it. */
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

export class TestControl extends TestStore {
  /** Puts objects into a bucket: by key, or the files below a folder. */
  override async seed(
    bucket: BucketReference,
    objects: Record<string, SeedValue> | string,
  ): Promise<void> {
    await super.seed(bucket, typeof objects === "string" ? readFolder(objects) : objects);
  }

  /**
   * What is written from now on, to buckets and to DNS, is undone when the function is called that
   * this returns. So are faults, and moves of the clock. May be nested.
   */
  async isolate(): Promise<() => Promise<void>> {
    const layer = await this.layers.open();
    return () => this.layers.close(layer);
  }
}

/** @param workerName the worker that has `testBindings()`; the first without it */
export async function testControl(runtime: Runtime, workerName?: string): Promise<TestControl> {
  const bindings = await runtime.getBindings(workerName);
  const store = bindings[controlBinding] as StoreControls | undefined;
  if (store === undefined) {
    throw new Error("The worker has no control: add testBindings() to its env.");
  }
  const dns = bindings[dnsBinding] as DnsControls | undefined;
  const control = new TestControl({ store, ...(dns !== undefined && { dns }) });
  await control.watchCalls();
  return control;
}

function readFolder(folder: string): Record<string, SeedValue> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Cannot seed a bucket from "${folder}": there is no such folder.`);
  }
  const start = resolve(folder);
  const files = readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map((file) => {
      const key = file.slice(start.length).replaceAll("\\", "/").replace(/^\/+/, "");
      const contentType = lookup(key);
      const value = readFileSync(file);
      return [key, { value, ...(contentType !== undefined && { httpMetadata: { contentType } }) }];
    }),
  );
}
