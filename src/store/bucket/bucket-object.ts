/**
 * The Durable Object of a bucket: a `Bucket` on the object's database, and its housekeeping.
 *
 * Housekeeping happens when the object wakes for the first time in a runtime, when an upload
 * reaches its deadline, and a minute after use. The last is for the next start: alarms are
 * persistent, so after a runtime was killed while the bucket was in use, the next runtime wakes the
 * bucket and collects the files that the crash left, even if no script calls the bucket.
 */
import { BlobDirectory, fileNames } from "../content/blob-directory.ts";
import { isAbandoned } from "../core/blob-name.ts";
import { encodeHex } from "../../base/hex.ts";
import type { Operation, Outcome } from "../core/operations.ts";
import { UndoJournal } from "../../base/undo-journal.ts";
import { BucketService } from "../transport/bucket-service.ts";
import {
  operationIn,
  operationsIn,
  type OperationMessage,
  type OutcomeMessage,
} from "../transport/message.ts";
import { areReads, Bucket } from "./bucket.ts";
import { storeClock } from "./clock.ts";
import { storeTestSession } from "./test-session.ts";

interface BucketEnv {
  /** The folder of the blobs, with a folder for each bucket. */
  readonly blobs: Fetcher;
  /** The folder of the records of the runs that use the store (`base/run-records.ts`). */
  readonly runs: Fetcher;
}

/** The buckets that are awake in this runtime: a test that moves the clock calls them. */
export const awakeBuckets = new Set<string>();

const wakeAfterUseMilliseconds = 60_000;
const sweepChunk = 1000;
/** Each removal is a request to the disk service, which holds memory until its answer. */
const removalsAtOnce = 64;

/** An empty bucket to whose database more than this was written gets a new database. */
const emptyBytesMax = 1024 * 1024;
/** How long after a delete the bucket checks whether it is empty. */
const reclaimMilliseconds = 100;

export class BucketObject extends BucketService<BucketEnv> {
  #bucket: Bucket;
  readonly #name: string;
  readonly #journal: UndoJournal;
  readonly #blobs: BlobDirectory;
  /** The machine's time of the alarm that this instance has set; `Infinity` without one. */
  #alarmTime = Infinity;
  /** The upload deadline for which the alarm is set. */
  #alarmDeadline: number | null = null;
  #usedSinceAlarm = false;
  #swept: Promise<void> | undefined;
  /** The steps of an expiry that is in progress. */
  #expiry: Promise<void> | undefined;
  /** Whether a check for an empty bucket is scheduled. */
  #reclaiming = false;

  constructor(ctx: DurableObjectState, env: BucketEnv) {
    super(ctx, env);
    const name = ctx.id.name;
    if (name === undefined) throw new Error("A bucket object must be addressed by name");
    awakeBuckets.add(name);
    this.#name = name;
    this.#blobs = new BlobDirectory(env.blobs, name);
    this.#journal = new UndoJournal(ctx.storage.sql);
    this.#journal.recover(storeTestSession.run);
    this.#bucket = this.#openBucket();
  }

  #openBucket(): Bucket {
    return new Bucket({ storage: this.ctx.storage, now: () => storeClock.now(), randomHex });
  }

  override execute(messages: OperationMessage[]): OutcomeMessage[] | Promise<OutcomeMessage[]> {
    return storeTestSession.active && storeTestSession.concerns(messages)
      ? this.#executeInTest(messages)
      : this.#execute(operationsIn(messages));
  }

  /** `execute`, without faults and without a recorded call: for tests that fill or read a bucket. */
  async executeUnobserved(operations: Operation[]): Promise<Outcome[]> {
    return this.#execute(operations);
  }

  #execute(operations: readonly Operation[]): Outcome[] | Promise<Outcome[]> {
    this.#enterLayer(operations);
    const { outcomes, released } = this.#bucket.execute(operations);
    const expired = this.#expireUploads();
    if (!this.#usedSinceAlarm || this.#bucket.nextDeadline() !== this.#alarmDeadline) {
      this.#usedSinceAlarm = true;
      this.#setAlarm();
    }
    this.#swept ??= this.#startSweep();
    if (this.#bucket.bytesWritten > emptyBytesMax && operations.some(isDelete)) {
      this.#startReclaim();
    }
    // Most calls release no file, and return without a promise.
    if (expired.length + released.length === 0) return outcomes;
    return this.#remove([...expired, ...released]).then(() => outcomes);
  }

  /** `execute`, with the faults of the test session, and with recorded calls. */
  async #executeInTest(messages: readonly OperationMessage[]): Promise<OutcomeMessage[]> {
    const operations = messages.map(operationIn);
    const decisions = messages.map((message) => storeTestSession.decide(this.#name, message));
    const executed = operations.filter((_, index) => decisions[index]?.execute);
    const outcomes = (executed.length === 0 ? [] : await this.#execute(executed)).values();
    return decisions.map(({ execute, replacement, fault }, index) => {
      const executedOutcome = execute ? outcomes.next().value : undefined;
      const outcome = (replacement ?? executedOutcome) as Outcome;
      if (!fault?.late) {
        storeTestSession.record(this.#name, operations[index] as Operation, outcome);
      }
      return fault === undefined ? outcome : { fault, outcome };
    });
  }

  /** Called before a write: writes belong to the open layer. Reads leave nothing to undo. */
  #enterLayer(operations?: readonly Operation[]): void {
    if (!storeTestSession.active || (operations !== undefined && areReads(operations))) return;
    storeTestSession.touch(this.#name);
    this.#journal.enter(storeTestSession.layer, storeTestSession.run);
  }

  /** Undoes the writes of a layer and of the layers above it. */
  async leaveLayer(layer: number): Promise<void> {
    const added = this.#journal.added("blobs", layer);
    this.#journal.leave(layer, storeTestSession.run);
    this.#bucket.reread();
    this.#setAlarm();
    await this.#remove(added);
  }

  /** Expires all uploads that are due. Also called when a test has moved the clock. */
  async housekeep(): Promise<void> {
    await this.#remove(this.#expireUploads());
    await this.#expiry;
    this.#setAlarm();
  }

  /** Removes files to which no row refers and whose writer has ended. */
  override async collectGarbage(): Promise<number> {
    // The order matters: see `core/blob-name.ts`.
    const files = await this.#blobs.fileNames();
    const activeRuns = await fileNames(this.env.runs, "http://runs/");
    const abandoned = files.filter((fileName) => isAbandoned(fileName, activeRuns));
    let removed = 0;
    for (let start = 0; start < abandoned.length; start += sweepChunk) {
      const garbage = this.#bucket.unreferenced(abandoned.slice(start, start + sweepChunk));
      await this.#remove(garbage);
      removed += garbage.length;
      // Calls of scripts are executed between the chunks.
      await scheduler.wait(0);
    }
    return removed;
  }

  #startReclaim(): void {
    if (this.#reclaiming) return;
    this.#reclaiming = true;
    const reclaim = scheduler
      .wait(reclaimMilliseconds)
      .then(() => this.#reclaim())
      .catch(this.#report("shrink the database"))
      .finally(() => (this.#reclaiming = false));
    this.ctx.waitUntil(reclaim);
  }

  /**
   * Returns the disk space of an empty bucket. SQLite keeps deleted pages for later writes, and a
   * Durable Object may not run `VACUUM`, but it may delete its database and create another. No
   * other runtime has the file open, because a folder has one owner.
   */
  async #reclaim(): Promise<void> {
    if (!this.#bucket.isEmpty()) return;
    const deleted = this.ctx.storage.deleteAll();
    this.#bucket = this.#openBucket();
    this.#alarmTime = Infinity;
    this.#setAlarm();
    await deleted;
  }

  override async alarm(): Promise<void> {
    this.#alarmTime = Infinity;
    await this.housekeep();
    this.#usedSinceAlarm = false;
    this.#swept ??= this.#startSweep();
    await this.#swept;
  }

  #startSweep(): Promise<void> {
    const sweep = this.collectGarbage().then((removed) => {
      if (removed > 0) console.log(`Collected ${removed} unreferenced blobs of "${this.#name}".`);
    }, this.#report("collect the garbage"));
    this.ctx.waitUntil(sweep);
    return sweep;
  }

  /**
   * The first step of the expiry of uploads; further steps follow in the background. Returns the
   * files to remove. Costs one comparison unless an upload has expired.
   */
  #expireUploads(): readonly string[] {
    if (this.#expiry !== undefined || !this.#isExpiryDue()) return [];
    const files = this.#expireStep();
    if (this.#isExpiryDue()) {
      this.#expiry = this.#expireRest()
        .catch(this.#report("expire the uploads"))
        .finally(() => (this.#expiry = undefined));
      this.ctx.waitUntil(this.#expiry);
    }
    return files;
  }

  /** Calls of scripts are executed between the steps. */
  async #expireRest(): Promise<void> {
    while (this.#isExpiryDue()) {
      await scheduler.wait(0);
      await this.#remove(this.#expireStep());
    }
  }

  #expireStep(): readonly string[] {
    this.#enterLayer();
    return this.#bucket.expireUploads();
  }

  #isExpiryDue(): boolean {
    const deadline = this.#bucket.nextDeadline();
    return deadline !== null && deadline <= storeClock.now();
  }

  #setAlarm(): void {
    const deadline = this.#bucket.nextDeadline();
    this.#alarmDeadline = deadline;
    const time = Math.min(
      deadline === null ? Infinity : storeClock.machineTime(deadline),
      this.#usedSinceAlarm ? Date.now() + wakeAfterUseMilliseconds : Infinity,
    );
    // The alarm only moves to an earlier time: an early alarm is harmless, and setting it is a write.
    if (time >= this.#alarmTime) return;
    this.#alarmTime = time;
    void this.ctx.storage.setAlarm(time);
  }

  /**
   * Outgoing requests wait until earlier writes are durable, so no referenced file is removed. A
   * file that cannot be removed does not fail operations that are committed.
   */
  async #remove(files: readonly string[]): Promise<void> {
    const restorable = storeTestSession.active ? this.#journal.keeps("blobs", files) : undefined;
    // A layer has deleted the rows of some files, and restores the rows when it is closed.
    const removable = files.filter((fileName) => !restorable?.has(fileName));
    for (let start = 0; start < removable.length; start += removalsAtOnce) {
      const some = removable.slice(start, start + removalsAtOnce);
      await Promise.all(
        some.map((fileName) => this.#blobs.remove(fileName).catch(this.#report("remove a blob"))),
      );
    }
  }

  /** Logs the error of work whose failure fails no call. */
  #report(work: string): (error: unknown) => void {
    return (error) => console.error(`Cannot ${work} of "${this.#name}":`, error);
  }
}

function isDelete({ method }: Operation): boolean {
  return method === "delete";
}

function randomHex(bytes: number): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
