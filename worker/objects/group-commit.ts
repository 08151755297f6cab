/**
 * Group commit: several calls write in one turn of the event loop. An object commits everything
 * that it writes in one turn together, and a commit costs one fsync regardless of its size. Calls
 * that arrive while the disk is busy therefore wait for one fsync in total. Each call is still a
 * separate transaction, and its reply still leaves only after the commit.
 */
export class GroupCommit {
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
