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
 * Batches that bring files for one key are executed in the order of their arrival. Other batches do
 * not wait.
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
const notAnswered =
  "the process that has started the runtime does not answer, so the file cannot be made durable. " +
  "Nothing was stored. Continue or end that process, and put the object again.";
/** At once. More requests would be more connections, and no faster. */
const requestsMax = 4;
/** The most batches of a request. */
const requestBatches = 64;

/** For each file its size, `null` if it is missing, or why it cannot be named. */
type Answers = (number | string | null)[];

interface Question {
  readonly names: readonly string[];
  readonly answer: (answers: Answers) => void;
}

export class ArrivingFiles {
  readonly #blobs: BlobDirectory;
  readonly #durable: Fetcher | undefined;
  /** The files of batches that wait or are executed: why a file cannot be named, or `null`. */
  readonly #claimed = new Map<string, string | null>();
  readonly #removing = new Set<string>();
  /** The last batch that brings a file for a key, while it waits. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #queued: Question[] = [];
  #requests = 0;

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
    const keys = operations.flatMap((operation) => ("key" in operation ? operation.key : []));
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? []);
    const verified = this.#verify(files, removed);
    const turn = Promise.all(earlier).then(() => verified);
    for (const key of keys) this.#last.set(key, turn);
    try {
      const problems = await turn;
      if (problems.some((problem) => problem !== null)) await onProblem();
      for (const [index, name] of names.entries()) {
        this.#claimed.set(name, problems[index] as string | null);
      }
      return await execute();
    } finally {
      for (const name of names) this.#claimed.delete(name);
      for (const key of keys) if (this.#last.get(key) === turn) this.#last.delete(key);
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
    const answers = Promise.withResolvers<Answers>();
    this.#queued.push({ names, answer: answers.resolve });
    this.#ask();
    const sizes = await answers.promise;
    return files.map(({ blob, size: expectedBytes }, index) => {
      const size = sizes[index] as number | string | null;
      if (typeof size === "string") return size;
      const actualBytes = removed.includes(blob) ? null : size;
      if (actualBytes === expectedBytes) return null;
      const damage = describeBlobDamage({ blob, expectedBytes, actualBytes });
      return `${damage}. Nothing was stored. Put the object again.`;
    });
  }

  /** Batches that wait are verified together, and share syncs. */
  #ask(): void {
    if (this.#requests === requestsMax || this.#queued.length === 0) return;
    this.#requests++;
    const asked = this.#queued.splice(0, requestBatches);
    void this.#sizes(asked.flatMap(({ names }) => names)).then((sizes) => {
      this.#requests--;
      for (const { names, answer } of asked) answer(sizes.splice(0, names.length));
      this.#ask();
    });
  }

  async #sizes(names: readonly string[]): Promise<Answers> {
    try {
      const { bucketName } = this.#blobs;
      const durable = this.#durable;
      if (durable === undefined) return await this.#blobs.sizes(names);
      const url = `http://files/${encodeURIComponent(bucketFolder(bucketName))}`;
      const response = await askParent(durable, url, JSON.stringify(names));
      if (response.ok) return await response.json<Answers>();
      const problem = `its file cannot be made durable (${await response.text()}). Nothing was stored.`;
      return names.map(() => problem);
    } catch (error) {
      console.error("Cannot verify files:", error);
      return names.map(() => (this.#durable === undefined ? notVerified : notAnswered));
    }
  }
}

/** Asks the process that has started the runtime. A client repeats a request that ends with the runtime. */
function askParent(durable: Fetcher, url: string, body: string): Promise<Response> {
  const since = Date.now();
  return repeatUntilAnswered({
    since,
    send: () =>
      durable.fetch(url, { method: "POST", body, signal: AbortSignal.timeout(answerMilliseconds) }),
    onFailure(error, isOver) {
      const isGone = error.name !== "TimeoutError" && Date.now() - since > goneMilliseconds;
      if (isOver || isGone) throw error;
    },
  });
}

/** The file that an operation brings, as a list of one or none. */
function fileOf(operation: Operation): FileContent[] {
  return "content" in operation && "blob" in operation.content ? [operation.content] : [];
}
