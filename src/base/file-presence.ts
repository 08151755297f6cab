/**
 * Notices that a database was removed while it is in use.
 *
 * A process that has a file open can write to the file after it was removed. SQLite does so: it
 * commits without an error to a database that has no name any more, and the end of the process
 * destroys what was committed. So before a write is acknowledged, the file is looked for. To look
 * costs a tenth of a write, so the result of a look counts for `validMilliseconds`: a single call
 * is checked, by a look or by the opening of the file, and a busy database pays once in that time.
 * Writes that were acknowledged on the strength of an earlier look are counted, and a later look
 * either confirms them or reports how many may be lost.
 */

/** How long the result of a look counts. */
export const validMilliseconds = 100;

export interface FilePresenceOptions {
  /** Whether the file exists; `true` when this cannot be found out. */
  readonly exists: () => Promise<boolean>;
  readonly now: () => number;
  /** The path of the folder, for messages. */
  readonly folder: string;
}

/** Is made when SQLite has opened the file, which counts as a look. */
export class FilePresence {
  readonly #options: FilePresenceOptions;
  #lookedAt: number;
  #unconfirmed = 0;
  #looking: Promise<string | null> | undefined;
  /** What callers are told once the file is known to be removed. */
  removedText: string | null = null;

  constructor(options: FilePresenceOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
  }

  /** Whether a call has to wait for `look()` before it is answered. */
  get isDue(): boolean {
    return this.#options.now() - this.#lookedAt >= validMilliseconds;
  }

  /** Writes that were acknowledged without a look. */
  get hasUnconfirmed(): boolean {
    return this.#unconfirmed > 0;
  }

  /** A write is acknowledged without a look. */
  countUnconfirmed(): void {
    this.#unconfirmed++;
  }

  /** @returns what callers are told when the file is removed, or `null` */
  look(): Promise<string | null> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<string | null> {
    const startedAt = this.#options.now();
    const unconfirmed = this.#unconfirmed;
    if (this.removedText === null && !(await this.#options.exists())) {
      this.removedText = removedText(this.#options.folder, this.#unconfirmed);
    }
    this.#lookedAt = startedAt;
    this.#unconfirmed -= unconfirmed;
    return this.removedText;
  }
}

function removedText(folder: string, unconfirmed: number): string {
  const writes = unconfirmed === 1 ? "write that was" : `${unconfirmed} writes that were`;
  const lost = unconfirmed === 0 ? "" : ` The last ${writes} acknowledged may be lost.`;
  return (
    `The folder ${folder} was removed while it was in use, so nothing can be stored any more.` +
    `${lost} Restart the process that uses the folder, and do not remove the folder while the ` +
    "process runs."
  );
}
