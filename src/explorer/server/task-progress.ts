/** What is known of one task, while it waits, runs, and after its end. */
import type { NewTask, Task } from "../api/tasks.ts";

/** More failures than a person reads. */
const failuresMax = 100;

interface TaskProgressOptions {
  readonly id: string;
  readonly request: NewTask;
  /** When a deletion begins: milliseconds since the epoch. */
  readonly begins: number;
  readonly onChange: () => void;
}

export class TaskProgress {
  readonly id: string;
  readonly #request: NewTask;
  readonly #begins: number;
  readonly #onChange: () => void;
  readonly #failures: { readonly key: string; readonly message: string }[] = [];
  #state: Task["state"] = "waiting";
  #isCancelled = false;
  #done = 0;
  #failed = 0;
  #total: number | null = null;
  /** When the task ended; `null` before. */
  #ended: number | null = null;

  constructor({ id, request, begins, onChange }: TaskProgressOptions) {
    this.id = id;
    this.#request = request;
    this.#begins = begins;
    this.#onChange = onChange;
    onChange();
  }

  get ended(): number | null {
    return this.#ended;
  }

  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  /** The work ends after its current object. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
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
    if (this.#ended !== null) return;
    this.#failed++;
    if (this.#failures.length < failuresMax) this.#failures.push({ key, message });
    this.#onChange();
  }

  /** Only the first end counts: the work of a task that was cancelled ends later than the task. */
  end(now: number): void {
    if (this.#ended !== null) return;
    // A cancellation that came after the last object has cancelled nothing.
    const isComplete = this.#total !== null && this.#done + this.#failed >= this.#total;
    const isBrokenOff = this.#isCancelled && (this.#state === "waiting" || !isComplete);
    this.#state = isBrokenOff ? "cancelled" : this.#failed > 0 ? "failed" : "done";
    this.#ended = now;
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
