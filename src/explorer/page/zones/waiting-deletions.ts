/**
 * Deletions that can be undone. A deletion waits for ten seconds before its request is sent, so that an
 * undo restores nothing: the record was never gone. The page that is left sends what waits.
 */
import type { DnsRecord } from "../../api/zones-api.ts";

export interface Deletion {
  readonly zoneId: string;
  readonly record: DnsRecord;
}

export interface DeletionOptions {
  /** @param isLeaving whether the page ends before the answer arrives */
  readonly send: (deletion: Deletion, isLeaving: boolean) => Promise<void>;
  readonly milliseconds: number;
  /** Calls `act` later; returns the function that cancels. */
  readonly later: (act: () => void, milliseconds: number) => () => void;
}

interface Waiting extends Deletion {
  readonly cancel: () => void;
  readonly onEnd: (error: unknown) => void;
}

export class WaitingDeletions {
  readonly #options: DeletionOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Records whose deletion was sent. They stay hidden: a list may be older than the deletion. */
  readonly #sent = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(options: DeletionOptions) {
    this.#options = options;
  }

  /** Whether the record counts as deleted. */
  has(recordId: string): boolean {
    return this.#waiting.has(recordId) || this.#sent.has(recordId);
  }

  /** How many records of a list's count are still to be deleted. */
  waitingIn(zoneId: string): number {
    return Array.from(this.#waiting.values()).filter((each) => each.zoneId === zoneId).length;
  }

  /** @param onEnd called after the answer: `null`, or the error, and then the record is there again */
  add(deletion: Deletion, onEnd: (error: unknown) => void): void {
    const { id } = deletion.record;
    if (this.has(id)) return;
    const cancel = this.#options.later(
      () => void this.#send(id, false),
      this.#options.milliseconds,
    );
    this.#waiting.set(id, { ...deletion, cancel, onEnd });
    this.#tell();
  }

  /** @returns whether the deletion still waited */
  undo(recordId: string): boolean {
    const waiting = this.#waiting.get(recordId);
    waiting?.cancel();
    this.#waiting.delete(recordId);
    this.#tell();
    return waiting !== undefined;
  }

  /** Sends the deletions of a zone at once. */
  async sendZone(zoneId: string): Promise<void> {
    const ids = Array.from(this.#waiting.values())
      .filter((each) => each.zoneId === zoneId)
      .map(({ record }) => record.id);
    await Promise.all(ids.map((id) => this.#send(id, false)));
  }

  /** The page ends. */
  leave(): void {
    for (const id of this.#waiting.keys()) void this.#send(id, true);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #send(id: string, isLeaving: boolean): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.cancel();
    this.#waiting.delete(id);
    this.#sent.add(id);
    let failure: unknown = null;
    try {
      await this.#options.send(waiting, isLeaving);
    } catch (error) {
      this.#sent.delete(id);
      failure = error;
    }
    this.#tell();
    waiting.onEnd(failure);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
