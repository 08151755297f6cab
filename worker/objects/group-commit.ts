/**
 * Group commit: several calls write in one turn of the event loop. An object commits everything
 * that it writes in one turn together, and a commit costs one fsync regardless of its size. Calls
 * that arrive while the disk is busy therefore wait for one fsync in total. Each call is still a
 * separate transaction, and its reply still leaves only after the commit.
 */
export class GroupCommit {
  #nextTurn: Promise<void> | null = null;

  async run<Result>(work: () => Result): Promise<Result> {
    this.#nextTurn ??= scheduler.wait(0).then(() => {
      this.#nextTurn = null;
    });
    await this.#nextTurn;
    return work();
  }
}
