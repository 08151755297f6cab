/**
 * The calls of scripts that no test observes in their own isolate (other workers of the runtime), on
 * their way to the test: a test asks for them in a loop, and each question waits for the next calls.
 *
 * The answer of a call waits until the test has the call: the next question of the test confirms it.
 * So a test that awaits a script finds the calls of that script.
 */
import type { Call } from "../core/recorded-call.ts";

/** The runtime would end a question that waits for nothing but another request. */
const questionMilliseconds = 10_000;
/** After this time the test is taken to have ended: a call never waits longer. */
const confirmationMilliseconds = 30_000;

export class CallFeed {
  #waiting: Call[] = [];
  /** Ends the wait of the question. */
  #wake: (() => void) | undefined;
  /** End the waits of the answers: of calls on their way to the test, and of waiting calls */
  #sent: (() => void)[] = [];
  #unsent: (() => void)[] = [];
  /** Whether a test has asked for calls. */
  isFollowed = false;

  /** The next calls; none when there was no call for a while. */
  async next(): Promise<readonly Call[]> {
    this.isFollowed = true;
    for (const confirm of this.#sent.splice(0)) confirm();
    if (this.#waiting.length === 0) {
      await elapsed(questionMilliseconds, (wake) => (this.#wake = wake));
    }
    this.#sent.push(...this.#unsent.splice(0));
    return this.#waiting.splice(0);
  }

  /** Resolves when the test has the calls. */
  async send(calls: readonly Call[]): Promise<void> {
    this.#waiting.push(...calls);
    await elapsed(confirmationMilliseconds, (confirm) => {
      this.#unsent.push(confirm);
      this.#wake?.();
    });
  }
}

/** Waits for a time at most, or until the function that `use` receives is called. */
async function elapsed(milliseconds: number, use: (end: () => void) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  use(resolve);
  await promise;
  clearTimeout(timer);
}
