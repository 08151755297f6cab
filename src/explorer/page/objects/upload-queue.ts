/**
 * The queue of uploads. The queue lives outside of the views, so uploads go on when a person changes
 * views. A few files are sent at once, each by one request; the others wait in the order of their
 * arrival. A key that has an object is never overwritten without an answer of the person: the file then
 * waits, and the files behind it go on.
 */
import { formatBytes } from "../../../base/format.ts";
import { shownKey } from "../frame/format.ts";
import { numberedKey } from "./upload-files.ts";

/** Browsers open six connections to a server, and the page itself needs some. */
const filesAtOnce = 3;

/** - `exists`: the key has an object, and the person decides */
type UploadState = "queued" | "sending" | "exists" | "failed" | "done" | "skipped";

/** What to do with a key that has an object. */
export type UploadChoice = "replace" | "keep both" | "skip";

export interface NewUpload {
  readonly bucket: string;
  readonly key: string;
  readonly file: File;
}

export interface Upload {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly state: UploadState;
  readonly sentBytes: number;
  /** Why the upload failed. */
  readonly message: string | null;
}

export interface Sending extends NewUpload {
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
}

/** @throws Error with a sentence for the person */
export type SendFile = (sending: Sending) => Promise<"done" | "exists">;

interface QueuedUpload extends Upload {
  key: string;
  state: UploadState;
  sentBytes: number;
  message: string | null;
  /** The key without the number of a second name. */
  readonly firstKey: string;
  /** Released when the file is sent: a queue of 10,000 files holds no finished file. */
  file: File | null;
  choice: UploadChoice | null;
  /** The number of the second name. */
  number: number;
  readonly cancelled: AbortController;
}

export class UploadQueue {
  readonly #send: SendFile;
  readonly #uploads = new Map<number, QueuedUpload>();
  readonly #listeners = new Set<() => void>();
  #sending = 0;
  #nextId = 1;
  /** The answer for all keys that exist, until nothing is left to send. */
  #choiceForAll: UploadChoice | null = null;

  constructor(send: SendFile) {
    this.#send = send;
  }

  /** In the order of their arrival. */
  get uploads(): Iterable<Upload> {
    return this.#uploads.values();
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  add(files: readonly NewUpload[]): void {
    // The list is about what the person does now.
    if (this.#isIdle()) this.#uploads.clear();
    for (const { bucket, key, file } of files) {
      const id = this.#nextId++;
      this.#uploads.set(id, {
        id,
        bucket,
        key,
        firstKey: key,
        file,
        size: file.size,
        state: "queued",
        sentBytes: 0,
        message: null,
        choice: null,
        number: 1,
        cancelled: new AbortController(),
      });
    }
    this.#schedule();
  }

  cancel(id: number): void {
    this.#uploads.get(id)?.cancelled.abort();
    this.#uploads.delete(id);
    this.#changed();
  }

  cancelAll(): void {
    for (const { id, state } of this.#uploads.values()) if (!isEnded(state)) this.cancel(id);
  }

  /** Sends a file that failed once more; without an id, all such files. */
  retry(id?: number): void {
    for (const upload of this.#uploads.values()) {
      const isMeant = id === undefined || upload.id === id;
      if (isMeant && upload.state === "failed") upload.state = "queued";
    }
    this.#schedule();
  }

  /** Decides about a key that exists: for one file, or for all until the queue is empty. */
  answer(id: number, choice: UploadChoice, isForAll: boolean): void {
    if (isForAll) this.#choiceForAll = choice;
    for (const upload of this.#uploads.values()) {
      if (upload.state === "exists" && (isForAll || upload.id === id)) decide(upload, choice);
    }
    this.#schedule();
  }

  /** Forgets all files, which are sent. */
  clear(): void {
    this.#uploads.clear();
    this.#changed();
  }

  #schedule(): void {
    for (const upload of this.#uploads.values()) {
      if (this.#sending >= filesAtOnce) break;
      if (upload.state === "queued") void this.#run(upload);
    }
    if (this.#isIdle()) this.#choiceForAll = null;
    this.#changed();
  }

  #isIdle(): boolean {
    for (const { state } of this.#uploads.values()) if (!isEnded(state)) return false;
    return true;
  }

  async #run(upload: QueuedUpload): Promise<void> {
    upload.state = "sending";
    upload.message = null;
    this.#sending++;
    try {
      const outcome = await this.#sendOne(upload);
      upload.state = outcome;
      if (outcome === "done") upload.file = null;
      else if (this.#choiceForAll !== null) decide(upload, this.#choiceForAll);
    } catch (error) {
      // A cancelled upload is not in the list any more.
      upload.state = "failed";
      upload.message = (error as Error).message;
      upload.sentBytes = 0;
    }
    this.#sending--;
    this.#schedule();
  }

  async #sendOne(upload: QueuedUpload): Promise<"done" | "exists"> {
    for (;;) {
      const { bucket, key, choice, cancelled } = upload;
      const outcome = await this.#send({
        bucket,
        key,
        file: upload.file as File,
        overwrite: choice === "replace",
        signal: cancelled.signal,
        onProgress: (sentBytes) => {
          upload.sentBytes = Math.min(sentBytes, upload.size);
          this.#changed();
        },
      });
      upload.sentBytes = outcome === "done" ? upload.size : 0;
      if (outcome === "done" || choice !== "keep both") return outcome;
      takeNextKey(upload);
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

function decide(upload: QueuedUpload, choice: UploadChoice): void {
  upload.choice = choice;
  if (choice === "keep both") takeNextKey(upload);
  upload.state = choice === "skip" ? "skipped" : "queued";
}

function takeNextKey(upload: QueuedUpload): void {
  upload.number++;
  upload.key = numberedKey(upload.firstKey, upload.number);
}

function isEnded(state: UploadState): boolean {
  return state === "done" || state === "skipped";
}

/** Lower ranks are shown first: the files that need a person, and the files that are being sent. */
const ranks: Readonly<Record<UploadState, number>> = {
  exists: 0,
  failed: 0,
  sending: 1,
  queued: 2,
  done: 3,
  skipped: 4,
};

/** A list of 10,000 files stays smooth: the rest is counted. */
const rowsMax = 30;

export interface UploadSummary {
  readonly rows: readonly Upload[];
  readonly counts: Readonly<Record<UploadState, number>>;
  readonly files: number;
  /** Files that are not sent: they wait, fail, or are being sent. */
  readonly left: number;
  readonly bytes: number;
  readonly sentBytes: number;
}

export function summarize(uploads: Iterable<Upload>): UploadSummary {
  const counts = { queued: 0, sending: 0, exists: 0, failed: 0, done: 0, skipped: 0 };
  const byRank: Upload[][] = [[], [], [], [], []];
  let [files, bytes, sentBytes] = [0, 0, 0];
  for (const upload of uploads) {
    files++;
    counts[upload.state]++;
    byRank[ranks[upload.state]]?.push(upload);
    if (upload.state === "skipped") continue;
    bytes += upload.size;
    sentBytes += upload.sentBytes;
  }
  const rows = byRank.flatMap((some) => some.slice(0, rowsMax)).slice(0, rowsMax);
  const left = files - counts.done - counts.skipped;
  return { rows, counts, files, left, bytes, sentBytes };
}

export function statusText({ state, message, key, size, sentBytes }: Upload): string {
  switch (state) {
    case "queued":
      return `Waiting, ${formatBytes(size)}`;
    case "sending":
      return `${formatBytes(sentBytes)} of ${formatBytes(size)}`;
    case "exists":
      return `The bucket has an object with the key “${shownKey(key)}” already.`;
    case "failed":
      return `Failed: ${message}`;
    case "done":
      return `Uploaded, ${formatBytes(size)}`;
    case "skipped":
      return "Skipped: the object stays as it is.";
  }
}
