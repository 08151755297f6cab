/** A store for tests in Node: Miniflare with the built plugin, on a folder of its own. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { onTestFinished } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { worker } from "./worker.ts";

/** What a binding of type `store_control` can do. */
interface StoreControl {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
  collectGarbage(bucketName: string): Promise<number>;
  openLayer(layer: number, snapshot?: boolean): Promise<void>;
  closeLayer(layer: number): Promise<void>;
}

interface StoreEnv {
  BUCKET: StoreBucket;
  CONTROL: StoreControl;
}

/** A folder that goes away when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Store {
  readonly miniflare: Miniflare;
  readonly bucket: StoreBucket;
  readonly control: StoreControl;
  /** Ends the runtime; tests do so to start another on the same folder. */
  stop(): Promise<void>;
}

/** Starts a runtime on `folder`; it ends with the test at the latest. */
export async function startStore(
  folder: string,
  workers = [worker("export default {};")],
): Promise<Store> {
  const miniflare = new Miniflare({ resourcePersistencePath: folder, workers });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= miniflare.dispose());
  onTestFinished(stop);
  const { BUCKET, CONTROL } = await miniflare.getBindings<StoreEnv & Record<string, unknown>>();
  return { miniflare, bucket: BUCKET, control: CONTROL, stop };
}

/** The blob files below `folder`, those being written included. */
export function blobFiles(folder: string): string[] {
  const blobs = join(folder, "store", "blobs");
  return readdirSync(blobs, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
