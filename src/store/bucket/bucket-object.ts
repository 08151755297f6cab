/**
 * The Durable Object of a bucket: a `Bucket` on the object's own database, and its housekeeping.
 *
 * Housekeeping happens when the object wakes for the first time in a runtime, when an upload's
 * seven days are over, and a minute after use. The last is there for the next start: alarms
 * outlive the process, so a runtime that was killed while the bucket was in use wakes it again
 * when it starts, and what the crash left is collected even if no script asks for the bucket.
 */
import { DurableObject } from "cloudflare:workers";
import { BlobDirectory, fileNames } from "../content/blob-directory.ts";
import { decodeFrame, encodeFrame } from "../client/frame.ts";
import { isAbandoned } from "../core/blob-name.ts";
import { encodeHex } from "../../base/hex.ts";
import type { Operation, Outcome } from "../core/operations.ts";
import { operationOf, shortAnswer, type ShortAnswer, type ShortCall } from "../core/short-form.ts";
import { UndoJournal } from "../../base/undo-journal.ts";
import { Bucket, writesNothing } from "./bucket.ts";
import { MovableClock } from "./clock.ts";
import { TestSession } from "./test-session.ts";

export interface BucketEnv {
  /** The folder that holds each bucket's blobs in a folder of its name. */
  readonly blobs: Fetcher;
  /** The folder with the notes of the runs that use the store (`base/run-records.ts`). */
  readonly runs: Fetcher;
}

export const clock = new MovableClock();

/** What tests do to the store. */
export const testSession = new TestSession(clock);

/** Buckets that are awake in this runtime: the ones to tell when the clock moves. */
export const awakeBuckets = new Set<string>();

const wakeAfterUseMilliseconds = 60_000;
const sweepChunk = 1000;

/** What a database of an empty bucket may have taken in before it is worth a new one. */
const emptyBytesMax = 1024 * 1024;
/** After a delete; more often than once in that time, nobody looks whether it was the last. */
const reclaimMilliseconds = 100;

export class BucketObject extends DurableObject<BucketEnv> {
  #bucket: Bucket;
  readonly #name: string;
  readonly #journal: UndoJournal;
  readonly #blobs: BlobDirectory;
  /** The machine's time of the alarm that is set, if this run of the object has set one. */
  #alarmTime = Infinity;
  /** The deadline that the alarm takes into account. */
  #alarmDeadline: number | null = null;
  #usedSinceAlarm = false;
  #swept: Promise<void> | undefined;
  /** Whether somebody is going to look if the bucket is empty. */
  #reclaiming = false;

  constructor(ctx: DurableObjectState, env: BucketEnv) {
    super(ctx, env);
    const name = ctx.id.name;
    if (name === undefined) throw new Error("A bucket is addressed by its name");
    awakeBuckets.add(name);
    this.#name = name;
    this.#blobs = new BlobDirectory(env.blobs, name);
    this.#journal = new UndoJournal(ctx.storage.sql);
    this.#journal.recover(testSession.run);
    this.#bucket = this.#openBucket();
  }

  #openBucket(): Bucket {
    return new Bucket({ storage: this.ctx.storage, clock, randomHex });
  }

  /** Executes operations in order. Each is refused alone; what they wrote is durable on return. */
  execute(operations: Operation[]): Outcome[] | Promise<Outcome[]> {
    if (testSession.active && !testSession.leavesAlone(operations))
      return this.#executeInTest(operations);
    this.#enterLayer(operations);
    return this.#execute(operations);
  }

  /** `execute`, for one operation in its short form. */
  executeShort(...call: ShortCall): ShortAnswer | Promise<ShortAnswer> {
    const executed = this.execute([operationOf(call)]);
    return executed instanceof Promise
      ? executed.then(([outcome]) => shortAnswer(outcome as Outcome))
      : shortAnswer(executed[0] as Outcome);
  }

  #execute(operations: readonly Operation[]): Outcome[] | Promise<Outcome[]> {
    const expired = this.#expireUploads();
    const { outcomes, released } = this.#bucket.execute(operations);
    if (!this.#usedSinceAlarm || this.#bucket.nextDeadline() !== this.#alarmDeadline) {
      this.#usedSinceAlarm = true;
      this.#setAlarm();
    }
    this.#swept ??= this.#startSweep();
    if (this.#bucket.bytesTaken > emptyBytesMax && operations.some(isDelete)) {
      this.#startReclaim();
    }
    // Most calls leave nothing to remove, and then there is nothing to wait for.
    if (expired.length + released.length === 0) return outcomes;
    return this.#remove([...expired, ...released]).then(() => outcomes);
  }

  /** `execute`, in a test: undone with its layer, with faults, and noted. */
  async #executeInTest(operations: readonly Operation[]): Promise<Outcome[]> {
    const verdicts = operations.map((operation) => testSession.judge(this.#name, operation));
    const executed = operations.filter((_, index) => verdicts[index]?.execute);
    this.#enterLayer(executed);
    const answers = Iterator.from(executed.length === 0 ? [] : await this.#execute(executed));
    return verdicts.map(({ execute, instead, answerFault }, index) => {
      const answer = execute ? (answers.next().value as Outcome) : undefined;
      const outcome = {
        ...((instead ?? answer) as Outcome),
        ...(answerFault !== undefined && { answerFault }),
      };
      testSession.record(this.#name, operations[index] as Operation, outcome);
      return outcome;
    });
  }

  /** `execute`, for tests that fill a bucket or look at it: no fault meets it, nobody notes it. */
  async keep(operations: Operation[]): Promise<Outcome[]> {
    this.#enterLayer(operations);
    return this.#execute(operations);
  }

  /** Before anything is written. A test that only reads leaves nothing to undo. */
  #enterLayer(operations?: readonly Operation[]): void {
    if (!testSession.active || (operations !== undefined && writesNothing(operations))) return;
    testSession.touch(this.#name);
    this.#journal.enter(testSession.layer, testSession.run);
  }

  /** Undoes what was written in a layer, and in those above it. */
  async leaveLayer(layer: number): Promise<void> {
    const made = this.#journal.added("blobs", layer);
    this.#journal.leave(layer, testSession.run);
    this.#bucket.reread();
    this.#setAlarm();
    await this.#remove(made);
  }

  /** `execute`, for scripts whose compatibility date is from before RPC. */
  override async fetch(request: Request): Promise<Response> {
    const operations = decodeFrame<Operation[]>(await request.arrayBuffer());
    return new Response(encodeFrame(await this.execute(operations)));
  }

  /** Does what is due by the clock. Called when a test has moved it, too. */
  async housekeep(): Promise<void> {
    const expired = this.#expireUploads();
    this.#setAlarm();
    await this.#remove(expired);
  }

  /** Removes files that nothing refers to and whose writer is gone. Returns how many. */
  async collectGarbage(): Promise<number> {
    // In this order: see `core/blob-name.ts`.
    const files = await this.#blobs.fileNames();
    const activeRuns = await fileNames(this.env.runs, "http://runs/");
    const abandoned = files.filter((fileName) => isAbandoned(fileName, activeRuns));
    let removed = 0;
    for (let start = 0; start < abandoned.length; start += sweepChunk) {
      const garbage = this.#bucket.unreferenced(abandoned.slice(start, start + sweepChunk));
      await this.#remove(garbage);
      removed += garbage.length;
    }
    return removed;
  }

  #startReclaim(): void {
    if (this.#reclaiming) return;
    this.#reclaiming = true;
    const reclaim = scheduler
      .wait(reclaimMilliseconds)
      .then(() => this.#reclaim())
      .catch((error: unknown) =>
        console.error(`Cannot shrink the database of "${this.ctx.id.name}":`, error),
      )
      .finally(() => (this.#reclaiming = false));
    this.ctx.waitUntil(reclaim);
  }

  /**
   * Gives the disk back what an emptied bucket has taken. SQLite keeps the pages of what was
   * deleted for what comes next, and an object may not have it vacuum; but it may start anew. No
   * other runtime has the file open, for one at a time is the host of the folder.
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
    const sweep = this.collectGarbage().then(
      (removed) => {
        if (removed > 0)
          console.log(`Collected ${removed} unreferenced blobs of "${this.ctx.id.name}".`);
      },
      (error: unknown) =>
        console.error(`Cannot collect the garbage of "${this.ctx.id.name}":`, error),
    );
    this.ctx.waitUntil(sweep);
    return sweep;
  }

  /** Costs one look into an index, and nothing more unless something is due. */
  #expireUploads(): readonly string[] {
    const deadline = this.#bucket.nextDeadline();
    if (deadline === null || deadline > clock.now()) return [];
    this.#enterLayer();
    return this.#bucket.expireUploads();
  }

  #setAlarm(): void {
    const deadline = this.#bucket.nextDeadline();
    this.#alarmDeadline = deadline;
    const time = Math.min(
      deadline === null ? Infinity : clock.machineTime(deadline),
      this.#usedSinceAlarm ? Date.now() + wakeAfterUseMilliseconds : Infinity,
    );
    // Only ever earlier: waking too soon does no harm, and most calls need no write.
    if (time >= this.#alarmTime) return;
    this.#alarmTime = time;
    void this.ctx.storage.setAlarm(time);
  }

  /**
   * Outgoing requests wait until the writes before them are durable, so no live file is removed.
   * A file that cannot be removed is no reason to fail what has been committed.
   */
  async #remove(files: readonly string[]): Promise<void> {
    const kept = testSession.active ? this.#journal.keeps("blobs", files) : undefined;
    const removals = files.map(async (fileName) => {
      // A test has replaced what it refers to, and will give it back.
      if (kept?.has(fileName)) return;
      try {
        await this.#blobs.remove(fileName);
      } catch (error) {
        console.error(`Cannot remove a blob of "${this.ctx.id.name}":`, error);
      }
    });
    await Promise.all(removals);
  }
}

function isDelete({ method }: Operation): boolean {
  return method === "delete";
}

function randomHex(bytes: number): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
