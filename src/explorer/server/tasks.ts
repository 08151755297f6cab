/**
 * Deletes, copies and moves many objects, and deletes records. A task belongs to the server and not to the
 * page that asked for it, so it goes on when the page is closed.
 *
 * A deletion looks up its objects at once and then waits: until then it can be cancelled, and nothing
 * has to be restored. Objects that are stored after the request are never deleted.
 */
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { undoMilliseconds, type DeleteRecordsTask, type NewTask, type Task } from "../api/tasks.ts";
import type { ChangeFeed } from "./activity-log.ts";
import { checkKey, findBucket, remoteChanges } from "./buckets.ts";
import { CallError, json, readInput, type ExplorerContext, type Route } from "./call.ts";
import {
  copyTargets,
  deleteObjects,
  findSelected,
  plainSelection,
  transferObjects,
} from "./transfer.ts";
import { deleteRecords } from "./zones.ts";

/** A page that was closed for a moment sees how a task has ended. */
const keptMilliseconds = 60_000;
const keptMax = 50;
/** More failures than a person reads. */
const failuresMax = 100;

/** What is known of one task, while it waits, runs, and after its end. */
export class TaskProgress {
  readonly id = randomUUID();
  readonly #request: NewTask;
  readonly #begins: number;
  readonly #onChange: () => void;
  readonly #failures: { readonly key: string; readonly message: string }[] = [];
  #state: Task["state"] = "waiting";
  #done = 0;
  #failed = 0;
  #total: number | null = null;
  /** The work ends after its current object. */
  isCancelled = false;
  /** When the task ended: milliseconds since the epoch. */
  ended: number | null = null;
  /** Settles when the work may begin: after the time of "Undo", or when the task is cancelled. */
  readonly waiting = Promise.withResolvers<void>();
  /** Settles at the end of the work, and never rejects. */
  work: Promise<void> = Promise.resolve();

  /** @param begins when a deletion begins: milliseconds since the epoch */
  constructor(request: NewTask, begins: number, onChange: () => void) {
    this.#request = request;
    this.#begins = begins;
    this.#onChange = onChange;
    onChange();
  }

  begin(): void {
    this.#state = "running";
    this.#onChange();
  }

  count(total: number): void {
    this.#total = total;
    this.#onChange();
  }

  succeed(objects = 1): void {
    this.#done += objects;
    this.#onChange();
  }

  fail(key: string, message: string): void {
    if (this.ended !== null) return;
    this.#failed++;
    if (this.#failures.length < failuresMax) this.#failures.push({ key, message });
    this.#onChange();
  }

  /** A task that waits is cancelled at once, although its search may go on for a moment. */
  cancel(): void {
    this.isCancelled = true;
    if (this.#state === "waiting") this.end();
    this.waiting.resolve();
  }

  /** Only the first end counts: the work of a task that was cancelled ends later than the task. */
  end(): void {
    if (this.ended !== null) return;
    // A cancellation that came after the last object has cancelled nothing.
    const isComplete = this.#total !== null && this.#done + this.#failed >= this.#total;
    const isBrokenOff = this.isCancelled && (this.#state === "waiting" || !isComplete);
    this.#state = isBrokenOff ? "cancelled" : this.#failed > 0 ? "failed" : "done";
    this.ended = Date.now();
    this.#onChange();
  }

  show(): Task {
    return {
      ...subjectOf(this.#request),
      id: this.id,
      state: this.#state,
      begins: this.#begins,
      done: this.#done,
      total: this.#total,
      failures: [...this.#failures],
      failed: this.#failed,
    };
  }
}

/** What a task is about: without the rest of the request. */
function subjectOf(request: NewTask) {
  if (request.kind === "deleteRecords") return request;
  const { kind, bucket, keys, prefixes } = request;
  return { kind, bucket, keys, prefixes };
}

/** Finds what the task is about; the result does the work when the time of "Undo" has passed. */
type Preparation = () => Promise<() => Promise<void>>;

export class StoreTasks {
  readonly #context: Pick<ExplorerContext, "store" | "dns">;
  readonly #changes: ChangeFeed;
  /** In the order of their starts. */
  readonly #tasks = new Map<string, TaskProgress>();
  #isClosed = false;

  constructor(context: Pick<ExplorerContext, "store" | "dns">, changes: ChangeFeed) {
    this.#context = context;
    this.#changes = changes;
  }

  list(): readonly Task[] {
    this.#forgetOld();
    return Array.from(this.#tasks.values(), (task) => task.show());
  }

  /** @throws CallError */
  async start(request: NewTask): Promise<Task> {
    const isDeletion = request.kind === "delete" || request.kind === "deleteRecords";
    const waitMilliseconds = isDeletion ? undoMilliseconds : 0;
    const begins = Date.now() + waitMilliseconds;
    const task = new TaskProgress(request, begins, () => this.#changes.add({ topic: "tasks" }));
    const prepare =
      request.kind === "deleteRecords"
        ? await this.#recordWork(request, task)
        : await this.#objectWork(request, task);
    if (this.#isClosed) throw new CallError(503, "The explorer is ending.");
    const timer = setTimeout(() => task.waiting.resolve(), waitMilliseconds);
    const run = async (): Promise<void> => {
      if (!isDeletion) task.begin();
      const [work] = await Promise.all([prepare(), task.waiting.promise]);
      if (task.isCancelled) return;
      task.begin();
      await work();
    };
    task.work = run()
      .catch((error: unknown) => task.fail("", (error as Error).message))
      .finally(() => {
        clearTimeout(timer);
        task.end();
      });
    this.#tasks.set(task.id, task);
    this.#forgetOld();
    return task.show();
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
    if (task.ended !== null) throw new CallError(409, "The task has ended already.");
    task.cancel();
    return task.show();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.cancelAll();
  }

  /** Ends running tasks after their current object. */
  async cancelAll(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) task.cancel();
    await Promise.all(tasks.map(({ work }) => work));
  }

  /** All that can be refused is refused at once. */
  async #objectWork(
    request: Exclude<NewTask, DeleteRecordsTask>,
    task: TaskProgress,
  ): Promise<Preparation> {
    const { store } = this.#context;
    const bucket = await findBucket(store, request.bucket);
    for (const key of request.keys) checkKey(key);
    const plain = plainSelection(request);
    if (plain.kind === "delete") {
      return async () => {
        // Nothing has to be done for a key without an object.
        const { objects } = await findSelected(bucket, plain, task);
        task.count(objects.length);
        return async () => {
          await deleteObjects(bucket, objects, task);
          this.#changes.add(...remoteChanges(bucket));
        };
      };
    }
    const { kind, overwrite } = plain;
    const to = await findBucket(store, plain.to.bucket);
    const targetOf = copyTargets(plain);
    for (const key of plain.keys) checkKey(targetOf(key));
    return async () => {
      const { objects, missing } = await findSelected(bucket, plain, task);
      task.count(objects.length + missing.length);
      return async () => {
        for (const key of missing) task.fail(key, "The object does not exist any more.");
        await transferObjects({ kind, from: bucket, to, overwrite, targetOf }, objects, task);
        this.#changes.add(...remoteChanges(bucket), ...remoteChanges(to));
      };
    };
  }

  async #recordWork(request: DeleteRecordsTask, task: TaskProgress): Promise<Preparation> {
    const dns = await this.#context.dns();
    if (dns === null) throw new CallError(409, "This project has no DNS.");
    task.count(request.records.length);
    return async () => () => deleteRecords(dns, request, task);
  }

  #forgetOld(): void {
    const kept = Date.now() - keptMilliseconds;
    const ended = [...this.#tasks.values()].filter((task) => task.ended !== null);
    for (const [index, { id, ended: at }] of ended.entries()) {
      if ((at as number) < kept || index < ended.length - keptMax) this.#tasks.delete(id);
    }
  }
}

const text = v.string("must be text");
const selection = {
  bucket: text,
  keys: v.array(text, "must be a list of keys"),
  prefixes: v.array(text, "must be a list of folders"),
};

const newTaskSchema = v.variant(
  "kind",
  [
    v.object({ kind: v.literal("delete"), ...selection }),
    v.object({
      kind: v.picklist(["copy", "move"]),
      ...selection,
      to: v.object({ bucket: text, key: text }),
      overwrite: v.boolean("must be true or false"),
    }),
    v.object({
      kind: v.literal("deleteRecords"),
      zone: text,
      zoneName: text,
      records: v.array(v.object({ id: text, name: text, type: text }), "must be a list of records"),
    }),
  ],
  "must be delete, copy, move or deleteRecords",
);

export function taskRoutes(tasks: StoreTasks): readonly Route[] {
  return [
    { method: "GET", path: "/api/tasks", handle: async () => json(tasks.list()) },
    {
      method: "POST",
      path: "/api/tasks",
      handle: async (call) => json(await tasks.start(await readInput(call, newTaskSchema)), 201),
    },
    {
      method: "DELETE",
      path: "/api/tasks/:id",
      handle: async ({ parameters }) => json(tasks.cancel(parameters["id"] as string)),
    },
  ];
}
