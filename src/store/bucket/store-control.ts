/**
 * What tests may do to a store: its clock, layers of isolation, faults, calls, and objects put
 * there and looked at without the script. A binding of type `store_control` leads here.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { Call } from "../core/recorded-call.ts";
import type { StoreFault, InjectedFault } from "../core/store-fault.ts";
import { awakeBuckets, clock, testSession, type BucketObject } from "./bucket-object.ts";
import type { FixtureObject, SeedObject } from "../core/fixture.ts";
import { BucketFixtures } from "./bucket-fixtures.ts";
import { filesBelow, readFiles } from "./seed-files.ts";

interface ControlEnv {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  /** The project's folder, where the binding was given one, and the types of its files */
  readonly project?: Fetcher;
  readonly contentTypes?: Readonly<Record<string, string>>;
  readonly runId: string;
}

export class StoreControl extends WorkerEntrypoint<ControlEnv> {
  /** The store's time, in milliseconds since the epoch. */
  now(): number {
    return clock.now();
  }

  /** Moves the clock of every bucket, and does what becomes due. */
  async advance(milliseconds: number): Promise<void> {
    if (!Number.isFinite(milliseconds)) {
      throw new TypeError(`Cannot advance the clock by ${milliseconds}: give milliseconds.`);
    }
    clock.advance(milliseconds);
    await this.#housekeep();
  }

  /** Sets the clock to the machine's time again. */
  async resetClock(): Promise<void> {
    clock.reset();
    await this.#housekeep();
  }

  /** Opens a layer: what is written from now on is undone when it is closed. */
  openLayer(layer: number, snapshot = false): void {
    testSession.open(layer, snapshot);
  }

  /**
   * Closes a layer and those above it, and undoes what was written in them.
   *
   * @param next a layer to open then
   */
  async closeLayer(layer: number, next?: number): Promise<void> {
    const buckets = testSession.close(layer);
    await Promise.all(buckets.map((name) => this.env.buckets.getByName(name).leaveLayer(layer)));
    if (next !== undefined) testSession.open(next, false);
  }

  armFault(fault: StoreFault): void {
    testSession.arm(fault);
  }

  disarmFaults(): void {
    testSession.disarm();
  }

  /** What faults did to calls, in the layer that is open. */
  injectedFaults(): readonly InjectedFault[] {
    return testSession.injectedFaults;
  }

  /** From now on calls are listed, if they were not. */
  watchCalls(): void {
    testSession.watch();
  }

  calls(): readonly Call[] {
    return testSession.calls;
  }

  /**
   * Puts objects into a bucket. No call of a script: no fault meets it, and it is not listed.
   *
   * @returns what is wrong, if anything is
   */
  seed(bucketName: string, objects: readonly SeedObject[]): Promise<string | null> {
    return this.#keeper(bucketName).seed(objects);
  }

  /** Puts the files of a folder of the project into a bucket. Returns what is wrong. */
  async seedFolder(bucketName: string, path: string): Promise<string | null> {
    const { project, contentTypes = {} } = this.env;
    if (project === undefined) {
      return `Cannot read "${path}": this runtime was not given a project's folder.`;
    }
    const keys = await filesBelow(project, path);
    if (keys === null) {
      return (
        `Cannot seed a bucket from "${path}": there is no such folder in the project's. ` +
        "Give a path from the folder of the configuration file."
      );
    }
    for await (const objects of readFiles({ disk: project, contentTypes }, path, keys)) {
      const problem = await this.seed(bucketName, objects);
      if (problem !== null) return problem;
    }
    return null;
  }

  contents(bucketName: string, prefix: string): Promise<FixtureObject[]> {
    return this.#keeper(bucketName).contents(prefix);
  }

  /** Removes what a crash left in a bucket. Returns the number of files. */
  collectGarbage(bucketName: string): Promise<number> {
    return this.env.buckets.getByName(bucketName).collectGarbage();
  }

  async #housekeep(): Promise<void> {
    await Promise.all(
      Array.from(awakeBuckets, (name) => this.env.buckets.getByName(name).housekeep()),
    );
  }

  #keeper(bucketName: string): BucketFixtures {
    const { buckets, blobs, runId } = this.env;
    return new BucketFixtures({ bucket: buckets.getByName(bucketName), blobs, bucketName, runId });
  }
}
