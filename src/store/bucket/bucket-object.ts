/**
 * The Durable Object of a bucket: a `Bucket` on the object's database, and its housekeeping.
 *
 * Housekeeping happens when the object wakes for the first time in a runtime, when an upload
 * reaches its deadline, and a minute after use. The last is for the next start: alarms are
 * persistent, so after a runtime was killed while the bucket was in use, the next runtime wakes the
 * bucket and collects the files that the crash left, even if no script calls the bucket.
 */
import { BlobDirectory } from "../client/blob-directory.ts";
import { ArrivingFiles } from "./arriving-files.ts";
import { bucketFolder } from "../core/content.ts";
import {
  refusedOutcome,
  type Operation,
  type Outcome,
  type Request,
  type RestorationStep,
  areReads,
  asksForDisk,
  bringsFile,
} from "../core/operations.ts";
import type { DiskProblem } from "../../state/disk-problem.ts";
import { UndoJournal } from "../../base/undo-journal.ts";
import { BucketService, openChannel } from "./bucket-service.ts";
import { clientHeader } from "../client/message.ts";
import { Bucket, type RefusedWrites } from "./bucket.ts";
import { BucketDisk, databasePath, refuse, type DiskBindings } from "./bucket-disk.ts";
import { callRecorder, recorded } from "./call-recorder.ts";
import { Restoration } from "./restoration.ts";
import { storeClock, storeTestSession } from "./test-session.ts";
import { decideCalls, executedRequestId, exemptClient, heldFaults } from "./held-faults.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { randomHex } from "../../base/random-hex.ts";

interface BucketEnv extends DiskBindings {
  readonly blobs: Fetcher;
  /** The folder of the records of the runs that use the store (`state/runs.ts`). */
  readonly runs: Fetcher;
  readonly runId: string;
  /** The service that makes files durable (`node/durable-files.ts`), where there is one. */
  readonly durableFiles?: Fetcher;
  /** The buckets whose setting is `durability = "process"`. */
  readonly processDurable: readonly string[];
  /** Whether the process that has started the runtime holds faults. */
  readonly awaitsFaults?: boolean;
}

/** The buckets that are awake in this runtime: a test that moves the clock calls them. */
export const awakeBuckets = new Set<string>();

const wakeAfterUseMilliseconds = 60_000;
/** An empty bucket to whose database more than this was written gets a new database. */
const emptyBytesMax = 1024 * 1024;
/** How long after a delete the bucket checks whether it is empty. */
const reclaimMilliseconds = 100;

export class BucketObject extends BucketService<BucketEnv> {
  #opened: Bucket | undefined;
  readonly #name: string;
  readonly #journal: UndoJournal;
  readonly #blobs: BlobDirectory;
  readonly #disk: BucketDisk;
  readonly #files: ArrivingFiles;
  readonly #collector: GarbageCollector;
  readonly #restoration: Restoration;
  /** The machine's time of the alarm that this instance has set; `Infinity` without one. */
  #alarmTime = Infinity;
  #alarmDeadline: number | null = null;
  #usedSinceAlarm = false;
  #swept: Promise<void> | undefined;
  /** The steps of an expiry that is in progress. */
  #expiry: Promise<void> | undefined;
  #reclaiming = false;

  constructor(ctx: DurableObjectState, env: BucketEnv) {
    super(ctx, env);
    const name = ctx.id.name;
    if (name === undefined) throw new Error("A bucket object must be addressed by name");
    awakeBuckets.add(name);
    if (env.awaitsFaults) heldFaults.expect();
    this.#name = name;
    this.#blobs = new BlobDirectory(env.blobs, name);
    this.#journal = new UndoJournal(ctx.storage.sql);
    this.#disk = new BucketDisk(ctx, env, name);
    this.#restoration = new Restoration(ctx.storage);
    const isSynced = !env.processDurable.includes(name);
    this.#files = new ArrivingFiles(this.#blobs, isSynced ? env.durableFiles : undefined);
    this.#collector = new GarbageCollector({
      bucketName: name,
      bucket: () => this.#bucket,
      blobs: this.#blobs,
      runs: env.runs,
      removeFiles: (names) => this.#remove(this.#files.unclaimed(names)),
      waitUntil: (work) => ctx.waitUntil(work),
      databasePath: databasePath(env, ctx.id),
      blobsPath: `${env.place.folder}/blobs/${bucketFolder(name)}`,
    });
  }

  /** @throws Error when the database cannot be used; `#problem` says why */
  get #bucket(): Bucket {
    return (this.#opened ??= this.#openBucket());
  }

  #openBucket(): Bucket {
    // By a journal of its own: to open an older database changes the tables.
    new UndoJournal(this.ctx.storage.sql).recover(storeTestSession.run);
    return new Bucket({
      storage: this.ctx.storage,
      now: () => storeClock.now(),
      randomHex,
      runId: this.env.runId,
      bucketName: this.#name,
      databasePath: databasePath(this.env, this.ctx.id),
      requireFile: (operation) => this.#files.requireVerified(operation),
    });
  }

  /** Why no operation can be executed, or `null`. */
  #problem(): DiskProblem | null {
    if (this.#opened !== undefined) return this.#disk.removedProblem;
    return this.#disk.openingProblem(() => void (this.#opened = this.#openBucket()));
  }

  override execute(
    operations: Operation[],
    requestId?: string,
    clientName?: string,
  ): Outcome[] | Promise<Outcome[]> {
    const execute = (batch: Operation[]): Outcome[] | Promise<Outcome[]> =>
      this.#withFiles(batch, () => this.#executeArrived(batch, requestId, clientName));
    // The script gives no name. Calls of other processes are recorded where they arrive.
    if (clientName !== undefined || !callRecorder.isFollowed) return execute(operations);
    return recorded(execute, { client: "script", bucketName: this.#name })(operations);
  }

  /** Batches without files are executed at once. */
  #withFiles(
    operations: readonly Operation[],
    execute: () => Outcome[] | Promise<Outcome[]>,
  ): Outcome[] | Promise<Outcome[]> {
    if (!operations.some(bringsFile)) return execute();
    // A file is missing also because the folder was removed, which is what callers are told then.
    return this.#files.executeVerified(operations, execute, () => this.#disk.confirm());
  }

  #executeArrived(
    operations: Operation[],
    requestId?: string,
    clientName?: string,
  ): Outcome[] | Promise<Outcome[]> {
    const isTested = storeTestSession.active && storeTestSession.concerns(operations);
    const isAffected = heldFaults.affectsCalls && clientName !== exemptClient;
    return isTested || isAffected
      ? this.#executeWithFaults(operations, isAffected, requestId)
      : this.#execute(operations, requestId);
  }

  /** Opens the database before the first call. A call reports why this is not possible. */
  open(): void {
    void this.#problem();
  }

  override async fetch(request: globalThis.Request): Promise<Response> {
    if (!request.headers.has("upgrade")) return super.fetch(request);
    const clientName = request.headers.get(clientHeader) ?? "";
    const caller = { client: clientName, bucketName: this.#name };
    return openChannel(
      recorded((operations, id) => this.execute(operations, id, clientName), caller),
    );
  }

  /** `execute`, without faults and without a recorded call: for tests that fill or read a bucket. */
  async executeUnobserved(operations: Operation[]): Promise<Outcome[]> {
    return this.#withFiles(operations, () => this.#execute(operations));
  }

  /**
   * Executes operations that no fault concerns. Most batches are answered without a promise.
   *
   * @param refused the writes that a full disk does not allow
   */
  #execute(
    operations: readonly Operation[],
    requestId?: string,
    refused?: RefusedWrites,
  ): Outcome[] | Promise<Outcome[]> {
    const isReady = this.#disk.isGood && this.#opened !== undefined && !asksForDisk(operations);
    const answer =
      isReady || refused !== undefined ? null : this.#answerByDisk(operations, requestId);
    if (answer !== null) return answer;
    const reads = refused?.areAll ?? areReads(operations);
    if (reads && refused === undefined && this.#isQuiet()) return this.#bucket.read(operations);
    if (!reads) this.#enterLayer();
    const deadline = this.#bucket.nextDeadline();
    const { outcomes, released } = this.#bucket.execute(operations, requestId, refused);
    // On a full disk a read writes nothing.
    if (!reads || !this.#disk.isFull) this.#expire();
    // Reads leave nothing to collect, so they set no alarm: setting an alarm is a write.
    if (!this.#disk.isFull && (!reads || this.#bucket.nextDeadline() !== deadline)) {
      if (!this.#usedSinceAlarm || this.#bucket.nextDeadline() !== this.#alarmDeadline) {
        this.#setAlarmAfterUse();
      }
    }
    this.#swept ??= this.#startSweep();
    const isLarge = this.#bucket.contents.bytesWritten > emptyBytesMax;
    if (isLarge && operations.some(({ method }) => method === "delete")) this.#startReclaim();
    // Most calls release no file, and return without a promise.
    const isConfirmed = this.#disk.confirmAtOnce(reads);
    const needsMark = this.#collector.needsMark(operations);
    const isDeleted = operations[0]?.method === "deleteBucket" && outcomes[0]?.ok === true;
    if (isConfirmed && !needsMark && !isDeleted && released.length === 0) return outcomes;
    return this.#complete(outcomes, released, { isConfirmed, needsMark, isDeleted });
  }

  /** The answer where the state of the database or of the disk decides; `null` otherwise. */
  #answerByDisk(
    operations: readonly Operation[],
    requestId: string | undefined,
  ): Outcome[] | Promise<Outcome[]> | null {
    const problem = this.#problem();
    if (problem?.lacksSpace === true) {
      return this.#disk.executeWithSpace(operations, () => this.#execute(operations, requestId));
    }
    if (problem !== null) return operations.map((operation) => refuse(operation, problem));
    if (asksForDisk(operations)) return this.#explainFailure(operations[0]);
    if (this.#disk.isGood) return null;
    const isKnown = requestId !== undefined && this.#bucket.requests.find(requestId) !== null;
    return this.#disk.executeAdmitted(operations, isKnown, (refused) =>
      this.#execute(operations, requestId, refused),
    );
  }

  /** Answers a client whose batch has failed, and removes the files of the batch. */
  async #explainFailure({ bytes, blobs }: Request<"checkDisk">): Promise<Outcome[]> {
    const problem = await this.#disk.findProblem(bytes);
    if (problem !== null) await this.#remove(this.#bucket.contents.unreferenced(blobs));
    return [{ ok: true, value: { problem } }];
  }

  async #complete(
    outcomes: Outcome[],
    files: readonly string[],
    completion: Record<"isConfirmed" | "needsMark" | "isDeleted", boolean>,
  ): Promise<Outcome[]> {
    if (completion.needsMark) await this.#collector.mark();
    if (completion.isDeleted) await this.#forget();
    if (files.length > 0) await this.#remove(files);
    const problem = completion.isConfirmed ? null : await this.#disk.confirm();
    return problem === null ? outcomes : outcomes.map(() => refusedOutcome(problem));
  }

  /** A deleted bucket has no mark, and does not wake: an alarm would make its database again. */
  async #forget(): Promise<void> {
    await this.#collector.unmark();
    await this.ctx.storage.deleteAlarm();
    this.#alarmTime = Infinity;
    this.#usedSinceAlarm = false;
  }

  /** `execute`, with faults and recorded calls of tests, and with held faults that affect the caller. */
  async #executeWithFaults(
    operations: readonly Operation[],
    isAffected: boolean,
    requestId?: string,
  ): Promise<Outcome[]> {
    if (isAffected) await heldFaults.arrival();
    const decisions = decideCalls(this.#name, operations, isAffected);
    const executed = operations.filter((_, index) => decisions[index]?.execute);
    const id = executedRequestId(requestId, decisions);
    const outcomes = (executed.length === 0 ? [] : await this.#execute(executed, id)).values();
    const others = operations.filter((_, index) => !decisions[index]?.execute);
    if (others.length > 0) await this.#remove(this.#bucket.unusedBlobs(others));
    const calls: [Operation, Outcome][] = [];
    const answers = decisions.map(({ execute, replacement, fault }, index) => {
      const executedOutcome = execute ? outcomes.next().value : undefined;
      const outcome = (replacement ?? executedOutcome) as Outcome;
      if (!fault?.late) calls.push([operations[index] as Operation, outcome]);
      return fault === undefined ? outcome : { ...outcome, fault };
    });
    await storeTestSession.record(this.#name, calls);
    return answers;
  }

  #isQuiet(): boolean {
    return this.#swept !== undefined && !this.#isExpiryDue() && this.#disk.confirmAtOnce(true);
  }

  /** Called before a write: writes belong to the open layer. Reads leave nothing to undo. */
  #enterLayer(): void {
    if (!storeTestSession.active) return;
    storeTestSession.touch(this.#name);
    this.#journal.enter(storeTestSession.layer, storeTestSession.run);
  }

  async leaveLayer(layer: number): Promise<void> {
    const added = this.#journal.added("blobs", layer);
    this.#journal.leave(layer, storeTestSession.run);
    this.#bucket.reread();
    this.#setAlarm();
    await this.#remove(added);
  }

  /** Expires all uploads and objects that are due. Also called when a test has moved the clock. */
  async housekeep(): Promise<void> {
    this.#expire();
    await this.#expiry;
    this.#setAlarm();
  }

  /** Ends this instance, whose files are then replaced. The call fails. */
  abort(): void {
    this.ctx.abort("The state of the bucket is being restored.");
  }

  override async collectGarbage(): Promise<number> {
    return this.#problem() === null ? this.#collector.collect() : 0;
  }

  /**
   * Executes a step of a restoration.
   *
   * @returns whether the bucket knows the restoration; if not, the restoration has to begin again
   */
  async restore(step: RestorationStep): Promise<boolean> {
    const problem = this.#problem();
    if (problem !== null) throw new Error(problem.text);
    if (storeTestSession.active) {
      throw new Error(`Cannot restore bucket "${this.#name}" while tests use it. End the tests.`);
    }
    this.#setAlarmAfterUse();
    if (step.step !== "commit") return this.#restoration.collect(step);
    const replaced = this.#restoration.commit(step.id, this.#bucket);
    if (replaced === null) return false;
    this.#opened = this.#openBucket();
    this.#setAlarm();
    await this.#collector.mark();
    await this.#remove(replaced);
    return true;
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
    this.#bucket.releasedFiles.forgetRemoved();
    if (!this.#bucket.isEmpty()) return;
    await this.#collector.unmark();
    // An operation may have been executed meanwhile.
    if (!this.#bucket.isEmpty()) return this.#collector.mark();
    const requests = this.#bucket.requests.rows();
    const deleted = this.ctx.storage.deleteAll();
    this.#opened = this.#openBucket();
    this.#opened.requests.restore(requests);
    this.#alarmTime = Infinity;
    this.#setAlarm();
    await deleted;
  }

  override async alarm(): Promise<void> {
    this.#alarmTime = Infinity;
    if (this.#problem() !== null) return;
    await this.housekeep();
    this.#usedSinceAlarm = false;
    this.#restoration.dropAbandoned();
    if (this.#restoration.isActive) this.#setAlarmAfterUse();
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
   * Expires the uploads and the objects that are due, in steps: calls of scripts are executed between the
   * steps. Costs two comparisons unless something is due. A failure fails no call: the time decides which
   * uploads have expired, and the next call tries again.
   */
  #expire(): void {
    if (this.#expiry !== undefined || !this.#isExpiryDue()) return;
    this.#expiry = this.#expireSteps()
      .catch(this.#report("expire uploads and objects"))
      .finally(() => (this.#expiry = undefined));
    this.ctx.waitUntil(this.#expiry);
  }

  async #expireSteps(): Promise<void> {
    while (this.#isExpiryDue()) {
      this.#enterLayer();
      await this.#remove(this.#bucket.expire());
      await scheduler.wait(0);
    }
  }

  #isExpiryDue(): boolean {
    const deadline = this.#bucket.nextDeadline();
    return deadline !== null && deadline <= storeClock.now();
  }

  #setAlarmAfterUse(): void {
    this.#usedSinceAlarm = true;
    this.#setAlarm();
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
    const removed = await this.#files.whileRemoving(removable, () =>
      this.#blobs.removeAll(removable, this.#report("remove a blob")),
    );
    this.#opened?.releasedFiles.confirmRemoved(removed);
  }

  /** Logs the error of work whose failure fails no call. */
  #report(work: string): (error: unknown) => void {
    return (error) => console.error(`Cannot ${work} of "${this.#name}":`, error);
  }
}
