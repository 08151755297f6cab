/**
 * Deletes, copies and moves many objects. A task belongs to the server and not to the page that asked
 * for it, so it goes on when the page is closed.
 *
 * A deletion looks up its objects at once and then waits: until then it can be cancelled, and nothing
 * has to be restored. Objects that are stored after the request are never deleted.
 */
import { randomUUID } from "node:crypto";
import type { Bucket } from "../../store/node/bucket.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import { undoMilliseconds, type CopyTask, type NewTask, type Task } from "../api/tasks.ts";
import { checkKey, findBucket } from "./bucket-access.ts";
import { CallError } from "./call.ts";
import { copyTargets, plainSelection } from "./copy-targets.ts";
import { transferObjects } from "./copying.ts";
import { deleteObjects } from "./deletion.ts";
import { findSelected, type SelectedObject } from "./selected-objects.ts";
import { TaskProgress } from "./task-progress.ts";
import type { Tasks } from "./tasks.ts";

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

export class StoreTasks implements Tasks {
  readonly #store: StoreClient;
  /** In the order of their starts. */
  readonly #tasks = new Map<string, StartedTask>();
  #isClosed = false;

  constructor(store: StoreClient) {
    this.#store = store;
  }

  list(): readonly Task[] {
    this.#forgetOld();
    return Array.from(this.#tasks.values(), ({ progress }) => progress.show());
  }

  async start(request: NewTask): Promise<Task> {
    const bucket = await findBucket(this.#store, request.bucket);
    const plain = plainSelection(request);
    for (const key of request.keys) checkKey(key);
    const waitMilliseconds = plain.kind === "delete" ? undoMilliseconds : 0;
    const progress = new TaskProgress(randomUUID(), request, Date.now() + waitMilliseconds);
    const work =
      plain.kind === "delete"
        ? (objects: readonly SelectedObject[]) => deleteObjects(bucket, objects, progress)
        : await this.#transfer(bucket, plain, progress);
    if (this.#isClosed) throw new CallError(503, "The explorer is ending.");
    const waiting = Promise.withResolvers<void>();
    const timer = setTimeout(() => waiting.resolve(), waitMilliseconds);
    const run = async (): Promise<void> => {
      if (waitMilliseconds === 0) progress.begin();
      const search = findSelected(bucket, plain, () => progress.isCancelled);
      const [{ objects, missing }] = await Promise.all([
        search.then((found) => {
          progress.count(found.objects.length + missingCount(plain, found.missing));
          return found;
        }),
        waiting.promise,
      ]);
      if (progress.isCancelled) return;
      progress.begin();
      for (const key of plain.kind === "delete" ? [] : missing) {
        progress.fail(key, "The object does not exist any more.");
      }
      await work(objects);
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

  async close(): Promise<void> {
    this.#isClosed = true;
    const tasks = [...this.#tasks.values()];
    for (const { progress, wake } of tasks) {
      progress.cancel();
      wake();
    }
    await Promise.all(tasks.map(({ ended }) => ended));
  }

  /** The work of a copy or a move, after all that can be refused at once. */
  async #transfer(
    from: Bucket,
    task: CopyTask,
    progress: TaskProgress,
  ): Promise<(objects: readonly SelectedObject[]) => Promise<void>> {
    const to = await findBucket(this.#store, task.to.bucket);
    const targetOf = copyTargets(task);
    for (const key of task.keys) checkKey(targetOf(key));
    const { kind, overwrite } = task;
    return (objects) => transferObjects({ kind, from, to, overwrite, targetOf }, objects, progress);
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

/** A deletion has nothing to do for a key without an object. */
function missingCount({ kind }: NewTask, missing: readonly string[]): number {
  return kind === "delete" ? 0 : missing.length;
}
