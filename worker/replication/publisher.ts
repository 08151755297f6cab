/**
 * Sends the commits of a zone to the listeners in Node, before the call that made them returns. A
 * client that has the reply and then asks by UDP or TCP gets the new answer from every thread.
 *
 * Only one message is in flight, so that messages arrive in the order of serials. The commits made
 * in the meantime travel together in the next message. A request leaves a Durable Object only once
 * the object's writes are on disk: listeners never learn of a change that a crash could undo.
 *
 * Unreachable listeners do not fail the write, which is committed already. They find the gap in the
 * serials at the next message, and fetch the zone.
 */
import { publicationPath } from "../../src/dns/replication/listener-protocol.ts";
import type { Publication } from "../../src/dns/replication/publication.ts";
import { postToListeners, type ListenersEnv } from "./listeners.ts";

/** Longer than a listener needs for the largest batch, so that a stuck listener blocks no write. */
const answerMillisecondsMax = 10_000;

export class Publisher {
  readonly #env: ListenersEnv;
  #waiting: Publication[] = [];
  #next: Promise<void> | null = null;
  #inFlight: Promise<void> = Promise.resolve();

  constructor(env: ListenersEnv) {
    this.#env = env;
  }

  /** To be called in the turn of the commit, to keep the order of serials. */
  enqueue(publication: Publication): void {
    if (this.#env.LISTENERS !== undefined) this.#waiting.push(publication);
  }

  /** Resolves once every publication enqueued so far is in the memory of every listener. */
  flushed(): Promise<void> {
    if (this.#waiting.length === 0) return this.#inFlight;
    this.#next ??= this.#inFlight.then(() => this.#sendWaiting());
    this.#inFlight = this.#next;
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const body = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    try {
      const signal = AbortSignal.timeout(answerMillisecondsMax);
      const { status } = await postToListeners(this.#env, publicationPath, body, signal);
      if (status !== 204) throw new Error(`status ${status}`);
    } catch (error) {
      console.error(`DNS listeners did not take a change: ${(error as Error).message}`);
    }
  }
}
