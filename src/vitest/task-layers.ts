/**
 * Which layer of isolation each test and each block of tests is in.
 *
 * A block's layer is opened before its `beforeAll` and closed after its `afterAll`; a test's lies
 * above it. Test runners do not tell of the end of everything that they begin (a test that skips
 * itself just stops), so whatever begins first closes all that is open above its own block.
 *
 * Tests that run at the same time share one layer: they see one another's writes, and those are
 * gone when the last of them has ended.
 */

/** As much as has to be known of a test or a block. */
export interface Task {
  readonly concurrent?: boolean | undefined;
  /** The block around it */
  readonly suite?: Task | undefined;
  /** The file it is in; its own self for the file */
  readonly file?: Task | undefined;
}

export interface LayerStore {
  open(): Promise<number>;
  close(layer: number): Promise<void>;
  /** Closes a layer and opens another, in one step. */
  replace(layer: number): Promise<number>;
}

interface Entry {
  readonly task: Task;
  readonly layer: number;
}

interface Company {
  readonly layer: Promise<number>;
  readonly members: Set<Task>;
}

export class TaskLayers {
  readonly #layers: LayerStore;
  readonly #entries: Entry[] = [];
  /** A layer above all entries that is open for whatever begins next. */
  #spare: number | undefined;
  /** Tasks that run at the same time, by what they are in */
  readonly #companies = new Map<Task | null, Company>();

  constructor(layers: LayerStore) {
    this.#layers = layers;
  }

  /** The innermost layer that is open. */
  get current(): number | undefined {
    return this.#entries.at(-1)?.layer;
  }

  async begin(task: Task): Promise<void> {
    const shared = outermostConcurrent(task);
    if (shared === null) return this.#open(task, parentOf(task));
    if (shared !== task) return;
    const parent = parentOf(task);
    let company = this.#companies.get(parent);
    if (company === undefined) {
      const layer = this.#open(task, parent).then(() => this.current as number);
      company = { layer, members: new Set() };
      this.#companies.set(parent, company);
    }
    company.members.add(task);
    await company.layer;
  }

  async end(task: Task): Promise<void> {
    const shared = outermostConcurrent(task);
    if (shared === null) return this.#end(this.#entries.findIndex((entry) => entry.task === task));
    const parent = parentOf(task);
    const company = this.#companies.get(parent);
    if (shared !== task || company === undefined) return;
    company.members.delete(task);
    if (company.members.size > 0) return;
    this.#companies.delete(parent);
    const layer = await company.layer;
    await this.#end(this.#entries.findIndex((entry) => entry.layer === layer));
  }

  /** Undoes what the task has done so far, because it is going to be tried again. */
  async again(task: Task): Promise<void> {
    if (outermostConcurrent(task) !== null) return;
    await this.end(task);
    await this.begin(task);
  }

  async endAll(): Promise<void> {
    this.#companies.clear();
    await this.#close(0);
  }

  async #open(task: Task, parent: Task | null): Promise<void> {
    if (this.#entries.some((entry) => entry.task === task)) return;
    const index = this.#entries.findIndex((entry) => entry.task === parent) + 1;
    if (index < this.#entries.length) await this.#close(index);
    const spare = this.#spare;
    this.#spare = undefined;
    this.#entries.push({ task, layer: spare ?? (await this.#layers.open()) });
  }

  /** Most that end are followed by another in the same block, so its layer is opened on the way. */
  async #end(index: number): Promise<void> {
    const lowest = this.#entries[index];
    if (lowest === undefined) return;
    if (index === 0) return this.#close(0);
    this.#entries.splice(index);
    this.#spare = undefined;
    const spare = await this.#layers.replace(lowest.layer);
    // Unless something has begun in the meantime: then the spare layer lies below it.
    if (this.#entries.length === index) this.#spare = spare;
  }

  async #close(index: number): Promise<void> {
    const lowest = this.#entries[index]?.layer ?? this.#spare;
    if (lowest === undefined) return;
    this.#entries.splice(index);
    this.#spare = undefined;
    await this.#layers.close(lowest);
  }
}

function parentOf(task: Task): Task | null {
  if (task.suite !== undefined) return task.suite;
  return task.file === undefined || task.file === task ? null : task.file;
}

/** The outermost task around this one, or itself, that runs at the same time as others. */
function outermostConcurrent(task: Task): Task | null {
  const parent = parentOf(task);
  const outer = parent === null ? null : outermostConcurrent(parent);
  return outer ?? (task.concurrent === true ? task : null);
}
