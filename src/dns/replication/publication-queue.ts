/**
 * Publications on their way to the listeners. Only one message is in flight, so that messages arrive
 * in the order of serials. The commits made in the meantime travel together in the next message.
 *
 * A message that is lost is repeated, alone or with the next commit. Listeners ignore what they have
 * already, and when a publication is missing, they find the gap in the serials and fetch the zone.
 */
import type { Publication } from "./publication.ts";

/** Listeners that restart are back in less. After the last try the next commit sends the rest. */
const repeatMilliseconds = [200, 1000, 5000, 20_000];
/** Of more, only the last is kept: fetching the zone takes less than so many changes. */
const keptMax = 100;

interface PublicationQueueOptions {
  /** Fails when a listener did not take the message. */
  readonly send: (publications: readonly Publication[]) => Promise<void>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  /** A lost message does not fail the write, which is committed already. */
  readonly onLost: (error: unknown) => void;
}

export class PublicationQueue {
  readonly #options: PublicationQueueOptions;
  #waiting: Publication[] = [];
  #next: Promise<void> | null = null;
  #inFlight: Promise<void> = Promise.resolve();
  /** The number of tries since the last message that arrived. */
  #failures = 0;
  #isRepeating = false;

  constructor(options: PublicationQueueOptions) {
    this.#options = options;
  }

  /** To be called in the turn of the commit, to keep the order of serials. */
  enqueue(publication: Publication): void {
    this.#waiting.push(publication);
  }

  /** Resolves once every publication enqueued so far has arrived, or was lost once. */
  flushed(): Promise<void> {
    if (this.#waiting.length === 0) return this.#inFlight;
    this.#next ??= this.#inFlight.then(() => this.#sendWaiting());
    this.#inFlight = this.#next;
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const sent = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    try {
      await this.#options.send(sent);
      this.#failures = 0;
    } catch (error) {
      this.#options.onLost(error);
      this.#waiting.unshift(...(sent.length > keptMax ? sent.slice(-1) : sent));
      void this.#repeat();
    }
  }

  /** No caller waits for the repetition. */
  async #repeat(): Promise<void> {
    const delay = repeatMilliseconds[this.#failures];
    this.#failures += 1;
    if (delay === undefined || this.#isRepeating) return;
    this.#isRepeating = true;
    await this.#options.wait(delay);
    this.#isRepeating = false;
    await this.flushed();
  }
}
