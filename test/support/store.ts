/** A store for tests in Node: Miniflare with the built plugin, on a temporary folder. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { isTemporary } from "../../src/store/core/content.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { controlEntry, worker } from "./worker.ts";

export { temporaryFolder };

/** The methods of a binding of type `store_control`. */
interface StoreControl {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
  collectGarbage(bucketName: string): Promise<number>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  closeLayer(layer: number): Promise<void>;
}

/** Host of the URLs that Miniflare routes to the worker with the control. */
const controlHost = "control.test";

/**
 * Calls the control for Node. The control is no binding in Node, because Miniflare starts a thread for
 * such a binding, which takes longer than the runtime's start.
 */
const controlWorker = {
  config: {
    ...worker(
      `export default {
        async fetch(request, { CONTROL }) {
          const { method, args } = await request.json();
          return Response.json((await CONTROL[method](...args)) ?? null);
        },
      };`,
      { name: "control", env: { CONTROL: controlEntry } },
    ).config,
    triggers: [{ type: "fetch" as const, pattern: `${controlHost}/*` }],
  },
};

export interface Store {
  readonly miniflare: Miniflare;
  readonly bucket: StoreBucket;
  readonly control: StoreControl;
  /** Stops the runtime, so that a test can start another on the same folder. */
  stop(): Promise<void>;
}

/** Starts a runtime on `folder`, and stops it at the end of the test. */
export async function startStore(
  folder: string,
  workers?: ReturnType<typeof worker>[],
): Promise<Store> {
  const miniflare = newMiniflare(folder, workers);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= miniflare.dispose());
  onTestFinished(stop);
  return { miniflare, bucket: await bucketOf(miniflare), control: controlOf(miniflare), stop };
}

function newMiniflare(folder: string, workers = [worker("export default {};")]): Miniflare {
  return new Miniflare({ resourcePersistencePath: folder, workers: [...workers, controlWorker] });
}

async function bucketOf(miniflare: Miniflare): Promise<StoreBucket> {
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  return BUCKET;
}

function controlOf(miniflare: Miniflare): StoreControl {
  return new Proxy({} as StoreControl, {
    get:
      (_, method: keyof StoreControl) =>
      async (...args: unknown[]): Promise<unknown> => {
        const body = JSON.stringify({ method, args });
        const request = { method: "POST", body };
        return (await miniflare.dispatchFetch(`http://${controlHost}/`, request)).json();
      },
  });
}

/**
 * One runtime for all tests of the block that calls this function, because a start takes longer than
 * most tests. The bucket is empty and the clock is right when a test begins.
 */
export function shareStore(): () => Pick<Store, "bucket" | "control"> & { folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  let miniflare: Miniflare;
  let bucket: StoreBucket;
  let control: StoreControl;
  let isControlled = false;
  beforeAll(async () => {
    miniflare = newMiniflare(folder);
    bucket = await bucketOf(miniflare);
    control = controlOf(miniflare);
  });
  beforeEach(async () => {
    const { objects } = await bucket.list();
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (isControlled) await control.resetClock();
    isControlled = false;
  });
  afterAll(async () => {
    await miniflare.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => ({
    bucket,
    get control() {
      isControlled = true;
      return control;
    },
    folder,
  });
}

/** Whether a file says to which database the blobs belong, and is no blob. */
export function isMark(name: string): boolean {
  return name.startsWith("database.") || (isTemporary(name) && name.includes(".database."));
}

/** The blob files below `folder`, including the files that are being written. */
export function blobFiles(folder: string): string[] {
  const blobs = join(folder, "store", "blobs");
  return readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isMark(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
