/**
 * The queue of uploads. The queue lives outside of the views, so uploads go on when a person changes
 * views. A few files are sent at once, each by one request; the others wait in the order of their
 * arrival. A key that has an object is never overwritten without an answer of the person: the file then
 * waits, and the files behind it go on.
 */
import { formatBytes } from "../../../base/format.ts";
import { shownKey } from "../frame/format.ts";

/** Browsers open six connections to a server, and the page itself needs some. */
const filesAtOnce = 3;
/** A list of 10,000 files stays smooth: the rest is counted. */
const rowsMax = 50;

/** - `exists`: the key has an object, and the person decides */
type UploadState = "queued" | "sending" | "exists" | "failed" | "done" | "skipped" | "cancelled";

/** What to do with a key that has an object. */
export type UploadChoice = "replace" | "keep both" | "skip";

export interface NewUpload {
  readonly bucket: string;
  readonly key: string;
  readonly file: File;
}

interface QueuedUpload {
  readonly id: number;
  readonly bucket: string;
  /** With the number of a second name, if it needs one. */
  key: string;
  readonly firstKey: string;
  number: number;
  readonly size: number;
  /** Released when the file is sent: a queue of 10,000 files holds no finished file. */
  file: File | null;
  state: UploadState;
  sentBytes: number;
  /** Why the upload failed. */
  message: string;
  choice: UploadChoice | null;
  /** Whether the person has pressed a button of the row, which then stays where it is. */
  isAnswered: boolean;
  readonly cancelled: AbortController;
}

export type Upload = Readonly<QueuedUpload>;

export interface Sending extends NewUpload {
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
}

/** @throws Error with a sentence for the person */
export type SendFile = (sending: Sending) => Promise<"done" | "exists">;

export class UploadQueue {
  readonly #send: SendFile;
  #uploads: QueuedUpload[] = [];
  /**
   * What is shown. A row keeps its place, so that a click hits what the person sees. If there are too
   * many files, a file that has ended by itself gives its place to a file that waits.
   */
  #rows: QueuedUpload[] = [];
  readonly #listeners = new Set<() => void>();
  #sending = 0;
  #nextId = 1;
  /** The answer for all keys that exist, until nothing is left to send. */
  #choiceForAll: UploadChoice | null = null;

  constructor(send: SendFile) {
    this.#send = send;
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  add(files: readonly NewUpload[]): void {
    // The list is about what the person does now.
    if (this.#isIdle()) this.clear();
    for (const { bucket, key, file } of files) {
      this.#uploads.push({
        id: this.#nextId++,
        bucket,
        key,
        firstKey: key,
        number: 1,
        size: file.size,
        file,
        state: "queued",
        sentBytes: 0,
        message: "",
        choice: null,
        isAnswered: false,
        cancelled: new AbortController(),
      });
    }
    this.#schedule();
  }

  /** Without an id, all files that are left. */
  cancel(id?: number): void {
    for (const upload of this.#meant(id)) {
      if (isEnded(upload)) continue;
      upload.cancelled.abort();
      Object.assign(upload, { state: "cancelled", file: null, isAnswered: true });
    }
    this.#schedule();
  }

  /** Sends a file that failed once more; without an id, all such files. */
  retry(id?: number): void {
    for (const upload of this.#meant(id)) if (upload.state === "failed") upload.state = "queued";
    this.#schedule();
  }

  /** Decides about a key that exists: for one file, or for all until the queue is empty. */
  answer(id: number, choice: UploadChoice, isForAll: boolean): void {
    if (isForAll) this.#choiceForAll = choice;
    for (const upload of this.#meant(isForAll ? undefined : id)) {
      if (upload.id === id) upload.isAnswered = true;
      if (upload.state === "exists") decide(upload, choice);
    }
    this.#schedule();
  }

  /** Forgets all files, which have ended. */
  clear(): void {
    this.#uploads = [];
    this.#rows = [];
    this.#changed();
  }

  summary() {
    const counts: Record<UploadState, number> = {
      queued: 0,
      sending: 0,
      exists: 0,
      failed: 0,
      done: 0,
      skipped: 0,
      cancelled: 0,
    };
    let [bytes, sentBytes] = [0, 0];
    for (const upload of this.#uploads) {
      counts[upload.state]++;
      if (upload.state === "skipped" || upload.state === "cancelled") continue;
      bytes += upload.size;
      sentBytes += upload.sentBytes;
    }
    const rows: readonly Upload[] = [...this.#rows];
    const left = counts.queued + counts.sending + counts.exists + counts.failed;
    return { rows, counts, files: this.#uploads.length, left, bytes, sentBytes };
  }

  #meant(id: number | undefined): readonly QueuedUpload[] {
    return id === undefined ? this.#uploads : this.#uploads.filter((upload) => upload.id === id);
  }

  #isIdle(): boolean {
    return this.#uploads.every(isEnded);
  }

  #schedule(): void {
    for (const upload of this.#uploads) {
      if (this.#sending >= filesAtOnce) break;
      if (upload.state === "queued") void this.#run(upload);
    }
    if (this.#isIdle()) this.#choiceForAll = null;
    this.#fillRows();
    this.#changed();
  }

  #fillRows(): void {
    const shown = new Set(this.#rows);
    const answered = this.#rows.filter((row) => isEnded(row) && row.isAnswered).length;
    for (const upload of this.#uploads) {
      if (shown.has(upload) || isEnded(upload)) continue;
      const free = this.#rows.findIndex((row) => isEnded(row) && !row.isAnswered);
      if (this.#rows.length < rowsMax + answered) this.#rows.push(upload);
      else if (free === -1) return;
      else this.#rows[free] = upload;
    }
  }

  async #run(upload: QueuedUpload): Promise<void> {
    upload.state = "sending";
    this.#sending++;
    try {
      const outcome = await this.#sendOne(upload);
      upload.state = outcome;
      if (outcome === "done") upload.file = null;
      else if (this.#choiceForAll !== null) decide(upload, this.#choiceForAll);
    } catch (error) {
      upload.sentBytes = 0;
      upload.message = (error as Error).message;
      upload.state = upload.cancelled.signal.aborted ? "cancelled" : "failed";
    }
    this.#sending--;
    this.#schedule();
  }

  async #sendOne(upload: QueuedUpload): Promise<"done" | "exists"> {
    const { bucket, choice, cancelled, file } = upload;
    for (;;) {
      const outcome = await this.#send({
        bucket,
        key: upload.key,
        file: file as File,
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

export type UploadSummary = ReturnType<UploadQueue["summary"]>;

function decide(upload: QueuedUpload, choice: UploadChoice): void {
  upload.choice = choice;
  if (choice === "keep both") takeNextKey(upload);
  upload.state = choice === "skip" ? "skipped" : "queued";
}

function takeNextKey(upload: QueuedUpload): void {
  upload.number++;
  upload.key = numberedKey(upload.firstKey, upload.number);
}

function isEnded({ state }: Upload): boolean {
  return state === "done" || state === "skipped" || state === "cancelled";
}

/**
 * A second name: `photo (2).jpg` for `photo.jpg`. A name that begins with its only dot has no
 * extension.
 */
export function numberedKey(key: string, number: number): string {
  const dot = key.lastIndexOf(".");
  const end = dot > key.lastIndexOf("/") + 1 ? dot : key.length;
  return `${key.slice(0, end)} (${number})${key.slice(end)}`;
}

export function statusText({ state, message, key, size, sentBytes }: Upload): string {
  const texts: Readonly<Record<UploadState, string>> = {
    queued: `Waiting, ${formatBytes(size)}`,
    sending: `${formatBytes(sentBytes)} of ${formatBytes(size)}`,
    exists: `The bucket has an object with the key “${shownKey(key)}” already.`,
    failed: `Failed: ${message}`,
    done: `Uploaded, ${formatBytes(size)}`,
    skipped: "Skipped: the object stays as it is.",
    cancelled: "Cancelled",
  };
  return texts[state];
}
