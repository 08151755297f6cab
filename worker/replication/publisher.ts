/**
 * Tells the listeners in Node what a zone has committed, before the call that did it returns: so
 * whoever has the reply and asks by UDP or TCP gets the new answer, whichever thread it reaches.
 *
 * One message is under way at a time, so that they arrive in the order of serials; what is
 * committed meanwhile travels together in the next. A request out of a Durable Object leaves only
 * once its writes are on disk, so listeners never hear of a change that a crash could undo.
 *
 * Listeners that cannot be reached do not fail the write, which has happened: they find the gap in
 * the serials at the next message, and ask for the zone.
 */
import type { Publication } from "../../src/dns/replication/publication.ts";
import {
  listenersOrigin,
  publicationPath,
  secretHeader,
} from "../../src/dns/replication/listener-protocol.ts";

/** Longer than a listener needs for the largest batch; a write must not hang on one that is stuck. */
const answerMillisecondsMax = 10_000;

export interface Listeners {
  /** The server of the listeners; without it there are none. */
  readonly LISTENERS?: Fetcher;
  readonly LISTENERS_SECRET?: string;
}

export class Publisher {
  readonly #listeners: Fetcher | undefined;
  readonly #secret: string;
  #waiting: Publication[] = [];
  #next: Promise<void> | null = null;
  #underWay: Promise<void> = Promise.resolve();

  constructor({ LISTENERS, LISTENERS_SECRET = "" }: Listeners) {
    this.#listeners = LISTENERS;
    this.#secret = LISTENERS_SECRET;
  }

  /** To be called in the turn of the commit, so that the order is that of the serials. */
  note(publication: Publication): void {
    if (this.#listeners !== undefined) this.#waiting.push(publication);
  }

  /** Resolves once everything noted so far is in every listener's memory. */
  told(): Promise<void> {
    if (this.#waiting.length === 0) return this.#underWay;
    this.#next ??= this.#underWay.then(() => this.#sendWaiting());
    this.#underWay = this.#next;
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const publications = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    try {
      const answer = await this.#listeners!.fetch(listenersOrigin + publicationPath, {
        method: "POST",
        headers: { [secretHeader]: this.#secret },
        body: JSON.stringify(publications),
        signal: AbortSignal.timeout(answerMillisecondsMax),
      });
      if (answer.status !== 204) throw new Error(`status ${answer.status}`);
    } catch (error) {
      console.error(`DNS listeners did not take a change: ${(error as Error).message}`);
    }
  }
}
