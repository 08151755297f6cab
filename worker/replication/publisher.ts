/**
 * Sends the commits of a zone to the listeners in Node, before the call that made them returns. A
 * client that has the reply and then asks by UDP or TCP gets the new answer from every thread.
 *
 * A request leaves a Durable Object only once the object's writes are on disk: listeners never learn
 * of a change that a crash could undo. Unreachable listeners do not fail the write, which is
 * committed already (`src/dns/replication/publication-queue.ts`).
 */
import { publicationPath } from "../../src/dns/replication/listener-protocol.ts";
import { PublicationQueue } from "../../src/dns/replication/publication-queue.ts";
import type { Publication } from "../../src/dns/replication/publication.ts";
import { postToListeners, type ListenersEnv } from "./listeners.ts";

/** Longer than a listener needs for the largest batch, so that a stuck listener blocks no write. */
const answerMillisecondsMax = 10_000;

export class Publisher {
  readonly #env: ListenersEnv;
  readonly #queue = new PublicationQueue({
    send: (publications) => this.#send(publications),
    wait: (milliseconds) => scheduler.wait(milliseconds),
    onLost: (error) =>
      console.error(`DNS listeners did not take a change: ${(error as Error).message}`),
  });

  constructor(env: ListenersEnv) {
    this.#env = env;
  }

  /** To be called in the turn of the commit, to keep the order of serials. */
  enqueue(publication: Publication): void {
    if (this.#env.LISTENERS !== undefined) this.#queue.enqueue(publication);
  }

  /** Resolves once every publication enqueued so far is in the memory of every listener. */
  flushed(): Promise<void> {
    return this.#queue.flushed();
  }

  async #send(publications: readonly Publication[]): Promise<void> {
    const signal = AbortSignal.timeout(answerMillisecondsMax);
    const { status } = await postToListeners(this.#env, publicationPath, publications, signal);
    if (status !== 204) throw new Error(`status ${status}`);
  }
}
