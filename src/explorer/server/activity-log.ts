/** The last entries of the activity, and the pages that follow them. */
import type { ActivityEntry } from "../api/activity.ts";

/** An entry before the log gives it an id. */
export type NewEntry = ActivityEntry extends infer Entry
  ? Entry extends ActivityEntry
    ? Omit<Entry, "id">
    : never
  : never;

/** A page that opens sees what has happened before, and a flood does not take the memory. */
const entriesMax = 5000;

export class ActivityLog {
  #entries: ActivityEntry[] = [];
  #nextId = 1;
  readonly #followers = new Set<() => void>();
  readonly #onFollowed: ((isFollowed: boolean) => void)[] = [];

  /** @returns the id of the entry */
  add(entry: NewEntry): number {
    // Twice the limit, so that the array moves rarely.
    if (this.#entries.length >= 2 * entriesMax) this.#entries = this.#entries.slice(-entriesMax);
    const id = this.#nextId++;
    this.#entries.push({ ...entry, id });
    for (const wake of this.#followers) wake();
    return id;
  }

  /** The entries after an id, and how many of them are lost. */
  after(id: number): { readonly entries: readonly ActivityEntry[]; readonly dropped: number } {
    const first = this.#entries[0]?.id ?? this.#nextId;
    // A page of an earlier server knows ids that this log has not reached.
    const known = id < this.#nextId ? id : 0;
    const entries = this.#entries.slice(Math.max(0, known + 1 - first));
    return { entries, dropped: known === 0 ? 0 : Math.max(0, first - known - 1) };
  }

  /**
   * Calls `wake` after each new entry.
   *
   * @returns a function that ends the following
   */
  follow(wake: () => void): () => void {
    this.#followers.add(wake);
    if (this.#followers.size === 1) this.#tell(true);
    return () => {
      if (this.#followers.delete(wake) && this.#followers.size === 0) this.#tell(false);
    };
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** A source that costs something works only while a page follows. */
  onFollowed(listen: (isFollowed: boolean) => void): void {
    this.#onFollowed.push(listen);
  }

  #tell(isFollowed: boolean): void {
    for (const listen of this.#onFollowed) listen(isFollowed);
  }
}
