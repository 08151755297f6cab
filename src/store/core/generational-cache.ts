/**
 * A cache that drops values which were not used recently, with two generations in place of the
 * bookkeeping of an LRU list.
 *
 * A used value joins the young generation. When the young generation is full, it becomes the old
 * generation, and the previous old generation is dropped. So a value stays in the cache while it
 * is used at least once in each generation, and the cache weighs at most two generations.
 */
export class GenerationalCache<Value> {
  readonly #weightMax: number;
  readonly #weigh: (key: string, value: Value) => number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngWeight = 0;

  /** @param weightMax of one generation; the cache takes no value above a quarter of it */
  constructor(weightMax: number, weigh: (key: string, value: Value) => number) {
    this.#weightMax = weightMax;
    this.#weigh = weigh;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(key, value);
    if (weight > this.#weightMax / 4) return;
    if (this.#youngWeight + weight > this.#weightMax) this.#age();
    this.#young.set(key, value);
    this.#youngWeight += weight;
  }

  delete(key: string): void {
    this.#old.delete(key);
    const young = this.#young.get(key);
    if (young === undefined) return;
    this.#young.delete(key);
    this.#youngWeight -= this.#weigh(key, young);
  }

  clear(): void {
    this.#age();
    this.#old.clear();
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngWeight = 0;
  }
}
