/**
 * The conditions as all parts of the page see them: the banner and the view show the same state, and a
 * change in one is seen in the other at once.
 *
 * The API replaces all conditions. So changes run one after another, each on the state that the change
 * before it has left, and the answer of a read that a change has overtaken is dropped.
 */
import type { Conditions, ConditionsState } from "../../api/conditions.ts";
import type { ConditionsChange } from "./condition-changes.ts";

export interface ConditionsApi {
  read(): Promise<ConditionsState>;
  replace(conditions: Conditions): Promise<ConditionsState>;
}

export interface KnownConditions {
  /** `null` before the first answer. */
  readonly state: ConditionsState | null;
  /** Why the state could not be read the last time. */
  readonly problem: Error | null;
}

export class ConditionsStore {
  readonly #api: ConditionsApi;
  readonly #listeners = new Set<() => void>();
  #known: KnownConditions = { state: null, problem: null };
  #changes = 0;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(api: ConditionsApi) {
    this.#api = api;
  }

  get known(): KnownConditions {
    return this.#known;
  }

  /** @returns a function that ends the listening */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async refresh(): Promise<void> {
    const changes = this.#changes;
    try {
      const state = await this.#api.read();
      if (changes === this.#changes) this.#set({ state, problem: null });
    } catch (error) {
      this.#set({ ...this.#known, problem: error as Error });
    }
  }

  /**
   * Changes nothing if the server refuses the conditions.
   *
   * @throws ApiCallError
   */
  change(change: ConditionsChange): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      this.#changes++;
      const before = this.#known.state ?? (await this.#api.read());
      const { bucketFaults, dnsFaults, latencyMilliseconds, clockOffsetMilliseconds } = before;
      const current = { bucketFaults, dnsFaults, latencyMilliseconds, clockOffsetMilliseconds };
      const state = await this.#api.replace(change(current));
      this.#changes++;
      this.#set({ state, problem: null });
    });
    this.#lastChange = changed.catch(() => {});
    return changed;
  }

  #set(known: KnownConditions): void {
    this.#known = known;
    for (const listener of this.#listeners) listener();
  }
}
