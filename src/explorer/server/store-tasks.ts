/**
 * Deletes, copies and moves many objects, and deletes records. A task belongs to the server and not to the page that asked
 * for it, so it goes on when the page is closed.
 *
 * A deletion looks up its objects at once and then waits: until then it can be cancelled, and nothing
 * has to be restored. Objects that are stored after the request are never deleted.
 */
import { randomUUID } from "node:crypto";
import type { StoreClient } from "../../store/node/store-client.ts";
import { undoMilliseconds, type DeleteRecordsTask, type NewTask, type Task } from "../api/tasks.ts";
import type { ChangeFeed } from "./activity-log.ts";
import { checkKey, findBucket, remoteChanges } from "./bucket-access.ts";
import { CallError } from "./call.ts";
import { copyTargets, plainSelection } from "./copy-targets.ts";
import { transferObjects } from "./copying.ts";
import { deleteObjects } from "./deletion.ts";
import type { DnsAccess } from "./dns-follower.ts";
import { deleteRecords } from "./record-writes.ts";
import { findSelected } from "./selected-objects.ts";
import { TaskProgress } from "./task-progress.ts";

/** A page that was closed for a moment sees how a task has ended. */
const keptMilliseconds = 60_000;
const keptMax = 50;

interface StartedTask {
  readonly progress: TaskProgress;
  /** Ends the wait of a deletion. */
  readonly wake: () => void;
  /** Settles at the end, and never rejects. */
  readonly ended: Promise<void>;
}

/** Finds what the task is about; the result does the work when the time of "Undo" has passed. */
type Preparation = () => Promise<() => Promise<void>>;

interface StoreTasksOptions {
  readonly store: StoreClient;
  readonly dns: () => Promise<DnsAccess | null>;
  readonly changes: ChangeFeed;
}

export class StoreTasks {
  readonly #options: StoreTasksOptions;
  /** In the order of their starts. */
  readonly #tasks = new Map<string, StartedTask>();
  #isClosed = false;

  constructor(options: StoreTasksOptions) {
    this.#options = options;
  }

  list(): readonly Task[] {
    this.#forgetOld();
    return Array.from(this.#tasks.values(), ({ progress }) => progress.show());
  }

  /** @throws CallError */
  async start(request: NewTask): Promise<Task> {
    const isDeletion = request.kind === "delete" || request.kind === "deleteRecords";
    const waitMilliseconds = isDeletion ? undoMilliseconds : 0;
    const progress = new TaskProgress({
      id: randomUUID(),
      request,
      begins: Date.now() + waitMilliseconds,
      onChange: () => this.#options.changes.add({ topic: "tasks" }),
    });
    const prepare =
      request.kind === "deleteRecords"
        ? await this.#recordWork(request, progress)
        : await this.#objectWork(request, progress);
    if (this.#isClosed) throw new CallError(503, "The explorer is ending.");
    const waiting = Promise.withResolvers<void>();
    const timer = setTimeout(() => waiting.resolve(), waitMilliseconds);
    const run = async (): Promise<void> => {
      if (waitMilliseconds === 0) progress.begin();
      const [work] = await Promise.all([prepare(), waiting.promise]);
      if (progress.isCancelled) return;
      progress.begin();
      await work();
    };
    const ended = run()
      .catch((error: unknown) => progress.fail("", (error as Error).message))
      .finally(() => {
        clearTimeout(timer);
        progress.end(Date.now());
      });
    this.#tasks.set(progress.id, { progress, wake: () => waiting.resolve(), ended });
    this.#forgetOld();
    return progress.show();
  }

  /** @throws CallError for a task that is not known, or has ended */
  cancel(id: string): Task {
    this.#forgetOld();
    const task = this.#tasks.get(id);
    if (task === undefined) {
      throw new CallError(
        404,
        "There is no such task. A task is forgotten a minute after its end.",
      );
    }
    const { progress, wake } = task;
    if (progress.ended !== null) throw new CallError(409, "The task has ended already.");
    progress.cancel();
    // A task that waits is cancelled at once, although its search may go on for a moment.
    if (progress.isWaiting) progress.end(Date.now());
    wake();
    return progress.show();
  }

  /** Ends running tasks after their current object. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const tasks = [...this.#tasks.values()];
    for (const { progress, wake } of tasks) {
      progress.cancel();
      wake();
    }
    await Promise.all(tasks.map(({ ended }) => ended));
  }

  /** All that can be refused is refused at once. */
  async #objectWork(
    request: Exclude<NewTask, DeleteRecordsTask>,
    progress: TaskProgress,
  ): Promise<Preparation> {
    const bucket = await findBucket(this.#options.store, request.bucket);
    const plain = plainSelection(request);
    for (const key of request.keys) checkKey(key);
    const isDeletion = plain.kind === "delete";
    const to = isDeletion ? null : await findBucket(this.#options.store, plain.to.bucket);
    const targetOf = isDeletion ? null : copyTargets(plain);
    for (const key of plain.keys) if (targetOf !== null) checkKey(targetOf(key));
    return async () => {
      const { objects, missing } = await findSelected(bucket, plain, () => progress.isCancelled);
      // A deletion has nothing to do for a key without an object.
      progress.count(objects.length + (isDeletion ? 0 : missing.length));
      return async () => {
        if (isDeletion || to === null || targetOf === null) {
          await deleteObjects(bucket, objects, progress);
        } else {
          for (const key of missing) progress.fail(key, "The object does not exist any more.");
          const { kind, overwrite } = plain;
          const transfer = { kind, from: bucket, to, overwrite, targetOf };
          await transferObjects(transfer, objects, progress);
        }
        for (const changed of [bucket, to ?? bucket]) {
          this.#options.changes.add(...remoteChanges(changed));
        }
      };
    };
  }

  async #recordWork(request: DeleteRecordsTask, progress: TaskProgress): Promise<Preparation> {
    const dns = await this.#options.dns();
    if (dns === null) throw new CallError(409, "This project has no DNS.");
    progress.count(request.records.length);
    return async () => () => deleteRecords(dns, request, progress);
  }

  #forgetOld(): void {
    const kept = Date.now() - keptMilliseconds;
    const ended = [...this.#tasks.values()].filter(({ progress }) => progress.ended !== null);
    for (const [index, { progress }] of ended.entries()) {
      const isOld = (progress.ended as number) < kept || index < ended.length - keptMax;
      if (isOld) this.#tasks.delete(progress.id);
    }
  }
}
