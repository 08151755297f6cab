/**
 * The files that operations bring: a row names a file only when the file exists with its size, and
 * would survive the loss of power.
 *
 * A writer can be wrong about its file: the runtime of a process that was killed lives on for a moment,
 * and the garbage collector removes the files of the process meanwhile. And a file that was written
 * is in the memory of the operating system first. So before a batch that brings files is executed,
 * the files are verified. With `durability = "power"`, the process that has started the runtime syncs
 * them (`node/durable-files.ts`); with `"process"`, and in a folder that ends with its runtime, the
 * disk service reports their sizes.
 *
 * From its arrival to its commit a file is claimed, and the collector leaves it alone. A file that the
 * collector removes when it arrives counts as missing.
 *
 * Batches that bring files are executed in the order of their arrival. Other batches do not wait.
 */
import { repeatUntilAnswered } from "../../state/repeat.ts";
import type { BlobDirectory } from "../client/blob-directory.ts";
import { bucketFolder, describeBlobDamage } from "../core/content.ts";
import { StoreError } from "../core/errors.ts";
import type { Content, Operation } from "../core/operations.ts";

type FileContent = Extract<Content, { blob: string }>;

/** A process that does not answer was stopped, or its JavaScript does not return. */
const answerMilliseconds = 30_000;
/** A process that cannot be reached has ended. Its runtime ends sooner than this. */
const goneMilliseconds = 5_000;
const notVerified = "its file was not verified. Put the object again.";
const silentParent =
  "the process that has started the runtime does not answer, so the file cannot be made durable. " +
  "Nothing was stored. Continue or end that process, and put the object again.";

export class ArrivingFiles {
  readonly #blobs: BlobDirectory;
  readonly #durable: Fetcher | undefined;
  /** The files of batches that wait or are executed: why a file cannot be named, or `null`. */
  readonly #claimed = new Map<string, string | null>();
  readonly #removing = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param durable the service that syncs files; without it, files are verified only */
  constructor(blobs: BlobDirectory, durable: Fetcher | undefined) {
    this.#blobs = blobs;
    this.#durable = durable;
  }

  /**
   * Executes a batch when its files are verified.
   *
   * @param onProblem called before the execution if a file cannot be named
   */
  async executeVerified<Result>(
    operations: readonly Operation[],
    execute: () => Result | Promise<Result>,
    onProblem: () => Promise<unknown>,
  ): Promise<Result> {
    const files = operations.flatMap(fileOf);
    const names = files.map(({ blob }) => blob);
    const removed = names.filter((name) => this.#removing.has(name));
    for (const name of names) this.#claimed.set(name, notVerified);
    const verified = this.#verify(files, removed);
    const turn = this.#last.then(() => verified);
    this.#last = turn.catch(() => {});
    try {
      const problems = await turn;
      if (problems.some((problem) => problem !== null)) await onProblem();
      for (const [index, name] of names.entries()) {
        this.#claimed.set(name, problems[index] as string | null);
      }
      return await execute();
    } finally {
      for (const name of names) this.#claimed.delete(name);
    }
  }

  /**
   * Called in the step that commits the operation.
   *
   * @throws StoreError 10001 when the operation brings a file that is not verified
   */
  requireVerified(operation: Operation): void {
    for (const { blob } of fileOf(operation)) {
      const problem = this.#claimed.get(blob);
      if (problem === null) continue;
      const subject = "key" in operation ? `"${operation.key}"` : "the content";
      throw new StoreError(10001, `Cannot store ${subject}: ${problem ?? notVerified}`);
    }
  }

  /** Those of the files that no batch has claimed. */
  unclaimed(names: readonly string[]): string[] {
    return names.filter((name) => !this.#claimed.has(name));
  }

  /** No batch can claim the files while `remove` removes them. */
  async whileRemoving<Result>(
    names: readonly string[],
    remove: () => Promise<Result>,
  ): Promise<Result> {
    for (const name of names) this.#removing.add(name);
    try {
      return await remove();
    } finally {
      for (const name of names) this.#removing.delete(name);
    }
  }

  /** Why each of the files cannot be named, or `null`. */
  async #verify(
    files: readonly FileContent[],
    removed: readonly string[],
  ): Promise<(string | null)[]> {
    const names = files.map(({ blob }) => blob);
    const sizes = await this.#sizes(names);
    if (typeof sizes === "string") return names.map(() => sizes);
    return files.map(({ blob, size: expectedBytes }, index) => {
      const actualBytes = removed.includes(blob) ? null : (sizes[index] as number | null);
      if (actualBytes === expectedBytes) return null;
      const damage = describeBlobDamage({ blob, expectedBytes, actualBytes });
      return `${damage}. Nothing was stored. Put the object again.`;
    });
  }

  /** The size of each file, `null` for a file that is missing; or why no file can be named. */
  #sizes(names: readonly string[]): Promise<(number | null)[] | string> {
    const durable = this.#durable;
    if (durable === undefined) return this.#blobs.sizes(names);
    const url = `http://files/${encodeURIComponent(bucketFolder(this.#blobs.bucketName))}`;
    const since = Date.now();
    // A client repeats a request that ends with this runtime, and the next owner answers.
    return repeatUntilAnswered<(number | null)[] | string>({
      since,
      async send() {
        const signal = AbortSignal.timeout(answerMilliseconds);
        const body = JSON.stringify(names);
        const response = await durable.fetch(url, { method: "POST", body, signal });
        if (response.ok) return response.json<(number | null)[]>();
        return `its file cannot be made durable (${await response.text()}). Nothing was stored.`;
      },
      onFailure(error, isOver) {
        const isGone = error.name !== "TimeoutError" && Date.now() - since > goneMilliseconds;
        if (isOver || isGone) throw error;
      },
    }).catch(() => silentParent);
  }
}

/** The file that an operation brings, as a list of one or none. */
function fileOf(operation: Operation): FileContent[] {
  return "content" in operation && "blob" in operation.content ? [operation.content] : [];
}
