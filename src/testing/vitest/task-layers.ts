/**
 * The isolation layer of each vitest task: a test file, a suite or a test.
 *
 * A suite's layer opens before its `beforeAll` and closes after its `afterAll`; the layers of its
 * tests are above it. vitest does not report the end of every task that begins (a test that skips
 * itself has none), so a task that begins first closes all layers above the layer of its parent.
 *
 * Tasks that run concurrently form a group with one layer: they see one another's writes, and the
 * end of the last task of the group undoes these writes. A concurrent task without concurrent tasks beside it
 * runs alone, and has a layer like any other.
 */
import type { IsolationLayers } from "../isolation-layers.ts";

export interface Task {
  readonly concurrent?: boolean | undefined;
  readonly suite?: Task | undefined;
  /** The file that contains the task; a file contains itself */
  readonly file?: Task | undefined;
  /** The tasks of a suite, in the order of the file */
  readonly tasks?: readonly Task[] | undefined;
}

type LayerStack = Pick<IsolationLayers, "open" | "close">;

interface Entry {
  readonly task: Task;
  readonly layer: number;
}

interface ConcurrentGroup {
  /** The task that began first, of which the entry of the group is */
  readonly first: Task;
  readonly layer: Promise<number>;
  readonly tasks: Set<Task>;
}

export class TaskLayers {
  readonly #layers: LayerStack;
  /** The tasks that have begun, outermost first, with their layers */
  readonly #entries: Entry[] = [];
  /** The tasks of each layer, also of closed layers: a call may arrive late */
  readonly #tasks = new Map<number, Task[]>();
  /** The running group of each parent */
  readonly #groups = new Map<Task | null, ConcurrentGroup>();

  constructor(layers: LayerStack) {
    this.#layers = layers;
  }

  /** The innermost layer of a task that has begun. */
  get current(): number | undefined {
    return this.#entries.at(-1)?.layer;
  }

  /** The task of a layer, or the tasks of a group. */
  tasksOf(layer: number): readonly Task[] {
    return this.#tasks.get(layer) ?? [];
  }

  /** A test that begins again, for another attempt, begins with the state before the test. */
  async begin(task: Task): Promise<void> {
    const outermost = outermostConcurrent(task);
    if (outermost === null) return this.#open(task, parentOf(task));
    if (outermost !== task) return;
    const parent = parentOf(task);
    let group = this.#groups.get(parent);
    if (group === undefined) {
      const layer = this.#open(task, parent).then(() => this.current as number);
      group = { first: task, layer, tasks: new Set() };
      this.#groups.set(parent, group);
    }
    group.tasks.add(task);
    const tasks = this.#tasks.get(await group.layer);
    if (tasks?.includes(task) === false) tasks.push(task);
  }

  async end(task: Task): Promise<void> {
    const outermost = outermostConcurrent(task);
    if (outermost === null) return this.#end((entry) => entry.task === task);
    const parent = parentOf(task);
    const group = this.#groups.get(parent);
    if (outermost !== task || group === undefined) return;
    group.tasks.delete(task);
    if (group.tasks.size > 0) return;
    this.#groups.delete(parent);
    const layer = await group.layer;
    await this.#end((entry) => entry.layer === layer);
  }

  async endAll(): Promise<void> {
    this.#groups.clear();
    await this.#close(0);
  }

  async #open(task: Task, parent: Task | null): Promise<void> {
    const index = this.#entries.findIndex((entry) => entry.task === parent) + 1;
    if (index < this.#entries.length) await this.#close(index);
    const layer = await this.#layers.open();
    this.#entries.push({ task, layer });
    this.#tasks.set(layer, [task]);
  }

  async #end(isEnding: (entry: Entry) => boolean): Promise<void> {
    const index = this.#entries.findIndex(isEnding);
    if (index >= 0) await this.#close(index);
  }

  /** Closes the layers of the entries from `index` on. */
  async #close(index: number): Promise<void> {
    const lowest = this.#entries[index];
    this.#remove(index);
    if (lowest !== undefined) await this.#layers.close(lowest.layer);
  }

  /** A group ends with its entry, also if a task of the group has not ended. */
  #remove(index: number): void {
    const removed = this.#entries.splice(index);
    for (const [parent, { first }] of this.#groups) {
      if (removed.some(({ task }) => task === first)) this.#groups.delete(parent);
    }
  }
}

function parentOf(task: Task): Task | null {
  if (task.suite !== undefined) return task.suite;
  return task.file === undefined || task.file === task ? null : task.file;
}

/** The outermost concurrent task among this task and the suites that contain it. */
function outermostConcurrent(task: Task): Task | null {
  const parent = parentOf(task);
  const outer = parent === null ? null : outermostConcurrent(parent);
  return outer ?? (runsConcurrently(task, parent) ? task : null);
}

/** vitest runs neighbours at the same time if all of them are concurrent. */
function runsConcurrently(task: Task, parent: Task | null): boolean {
  if (task.concurrent !== true) return false;
  const { tasks = [] } = parent ?? {};
  const index = tasks.indexOf(task);
  return [tasks[index - 1], tasks[index + 1]].some((neighbour) => neighbour?.concurrent === true);
}
