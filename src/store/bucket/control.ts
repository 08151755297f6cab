/** What tests may do to a store: its clock. A binding of type `store_control` leads here. */
import { WorkerEntrypoint } from "cloudflare:workers";
import { awakeBuckets, clock, type BucketObject } from "./bucket-object.ts";

interface ControlEnv {
  readonly buckets: DurableObjectNamespace<BucketObject>;
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

  /** Removes what a crash left in a bucket. Returns the number of files. */
  collectGarbage(bucketName: string): Promise<number> {
    return this.env.buckets.getByName(bucketName).collectGarbage();
  }

  async #housekeep(): Promise<void> {
    await Promise.all(
      Array.from(awakeBuckets, (name) => this.env.buckets.getByName(name).housekeep()),
    );
  }
}
