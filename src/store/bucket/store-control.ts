/**
 * The interface through which tests control a store: its clock, layers of isolation, faults,
 * recorded calls, and objects that tests put and read without a script. A binding of type
 * `store_control` leads to this entrypoint.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { BlobDirectory } from "../content/blob-directory.ts";
import type { FixtureObject, SeedObject } from "../core/fixture.ts";
import {
  unknownBucketText,
  type InjectedFault,
  type StoreFault,
  type UnusedFault,
} from "../core/store-fault.ts";
import type { Call } from "../core/recorded-call.ts";
import { BucketFixtures } from "./bucket-fixtures.ts";
import { awakeBuckets, type BucketObject } from "./bucket-object.ts";
import { storeClock } from "./clock.ts";
import { listProjectFiles, readProjectFiles, type ContentTypes } from "./project-files.ts";
import { storeTestSession } from "./test-session.ts";

interface ControlEnv {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  /** The project's folder, if the binding has one, and the content types of its files */
  readonly project?: Fetcher;
  readonly contentTypes?: ContentTypes;
  readonly runId: string;
  /** The buckets that the scripts of the runtime are bound to */
  readonly bucketNames: readonly string[];
}

export class StoreControl extends WorkerEntrypoint<ControlEnv> {
  /** The store's time, in milliseconds since the epoch. */
  now(): number {
    return storeClock.now();
  }

  /** Moves the clock of all buckets, and does the housekeeping that becomes due. */
  async advance(milliseconds: number): Promise<void> {
    if (!Number.isFinite(milliseconds)) {
      throw new TypeError(`Cannot advance the clock by ${milliseconds}: give milliseconds.`);
    }
    storeClock.offsetMilliseconds += milliseconds;
    await this.#housekeep();
  }

  /** Sets the clock to the machine's time. */
  async resetClock(): Promise<void> {
    storeClock.offsetMilliseconds = 0;
    await this.#housekeep();
  }

  /** Opens a layer: writes from now on are undone when the layer is closed. */
  openLayer(layer: number, snapshot = false): void {
    storeTestSession.open(layer, snapshot);
  }

  /**
   * Closes a layer and the layers above it, and undoes their writes.
   *
   * @param next a layer to open afterwards
   */
  async closeLayer(layer: number, next?: number): Promise<void> {
    const buckets = storeTestSession.close(layer);
    await Promise.all(buckets.map((name) => this.env.buckets.getByName(name).leaveLayer(layer)));
    if (next !== undefined) storeTestSession.open(next, false);
  }

  /** Returns the text of an error, or `null`. */
  armFault(fault: StoreFault): string | null {
    const { bucketNames } = this.env;
    if (fault.bucket !== null && !bucketNames.includes(fault.bucket)) {
      return unknownBucketText(fault.bucket, bucketNames);
    }
    storeTestSession.arm(fault);
    return null;
  }

  disarmFaults(): void {
    storeTestSession.disarm();
  }

  /** The faults that were injected in the open layer. */
  injectedFaults(): readonly InjectedFault[] {
    return storeTestSession.injectedFaults;
  }

  /** The faults in force that have hit no call. */
  unusedFaults(): readonly UnusedFault[] {
    return storeTestSession.unusedFaults;
  }

  /** Records calls from now on. */
  watchCalls(): void {
    storeTestSession.recordCalls();
  }

  calls(): readonly Call[] {
    return storeTestSession.calls;
  }

  /** The next calls of scripts that the test does not observe: see `call-feed.ts`. */
  nextCalls(): Promise<readonly Call[]> {
    storeTestSession.activate();
    return storeTestSession.feed.next();
  }

  /** Puts objects into a bucket. Returns the text of an error, or `null`. */
  seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null> {
    return this.#fixtures(bucketName).seed(objects);
  }

  /** `seed`, with the files of a folder of the project. */
  async seedFolder(bucketName: string, path: string): Promise<string | null> {
    const { project, contentTypes = {} } = this.env;
    if (project === undefined) {
      return `Cannot read "${path}": this runtime has no access to a project's folder.`;
    }
    const keys = await listProjectFiles(project, path);
    if (keys === null) {
      return (
        `Cannot seed a bucket from "${path}": the project has no such folder. ` +
        "Give a path relative to the folder of the configuration file."
      );
    }
    for await (const objects of readProjectFiles(project, path, keys, contentTypes)) {
      const problem = await this.seed(bucketName, objects);
      if (problem !== null) return problem;
    }
    return null;
  }

  contents(bucketName: string, prefix: string): Promise<FixtureObject[]> {
    return this.#fixtures(bucketName).contents(prefix);
  }

  collectGarbage(bucketName: string): Promise<number> {
    return this.env.buckets.getByName(bucketName).collectGarbage();
  }

  async #housekeep(): Promise<void> {
    await Promise.all(
      Array.from(awakeBuckets, (name) => this.env.buckets.getByName(name).housekeep()),
    );
  }

  #fixtures(bucketName: string): BucketFixtures {
    const { buckets, blobs, runId } = this.env;
    const directory = new BlobDirectory(blobs, bucketName);
    return new BucketFixtures(buckets.getByName(bucketName), directory, runId);
  }
}
