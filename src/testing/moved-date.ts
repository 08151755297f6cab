/** The `Date` of an isolate, moved with the clock of a test. */

export class MovedDate {
  readonly #scope: { Date: DateConstructor };
  readonly #real: DateConstructor;
  readonly #moved: DateConstructor;
  #offset = 0;

  constructor(scope: { Date: DateConstructor } = globalThis) {
    this.#scope = scope;
    this.#real = scope.Date;
    const now = (): number => this.#real.now() + this.#offset;
    // A proxy, because `instanceof` and the prototype are those of the real class.
    this.#moved = new Proxy(this.#real, {
      construct: (real, args, newTarget: DateConstructor) => {
        const target = newTarget === this.#moved ? real : newTarget;
        return Reflect.construct(real, args.length === 0 ? [now()] : args, target) as Date;
      },
      apply: (real) => new real(now()).toString(),
      get: (real, name, receiver) => (name === "now" ? now : Reflect.get(real, name, receiver)),
    });
  }

  get offsetMilliseconds(): number {
    return this.#offset;
  }

  /** A `Date` that is neither the real nor the moved one belongs to fake timers, and stays. */
  setOffset(milliseconds: number): void {
    this.#offset = milliseconds;
    const { Date: current } = this.#scope;
    if (current !== this.#real && current !== this.#moved) return;
    this.#scope.Date = milliseconds === 0 ? this.#real : this.#moved;
  }
}
