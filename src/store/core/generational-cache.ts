/**
 * Values that were used a moment ago, by key: a cache that holds about as much as it is told to.
 *
 * There are two generations. What is used joins the young one; when that has its fill it becomes
 * the old one, and the old one before it is forgotten. So a value stays for as long as it is used
 * within a generation, and keeping it costs no bookkeeping but its weight.
 */
export class Recent<Value> {
  readonly #weightMax: number;
  readonly #weigh: (key: string, value: Value) => number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngWeight = 0;

  /** @param weightMax of a generation; what weighs more than a quarter of it is not kept */
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
