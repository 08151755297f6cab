/**
 * Writes of several calls in one turn of the event loop. Whatever an object writes in one turn is
 * committed together, and a commit costs an fsync however little it holds: calls that arrive
 * while the disk is busy then wait for one fsync instead of one each. Every piece of work is
 * still a transaction of its own, and its answer still leaves only after the commit.
 */
export class SharedTurn {
  #waiting: (() => void)[] = [];

  run<Result>(work: () => Result): Promise<Result> {
    if (this.#waiting.length === 0) setTimeout(() => this.#runAll(), 0);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #runAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) work();
  }
}
