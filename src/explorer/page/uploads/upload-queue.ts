/**
 * The queue of uploads. The queue lives outside of the views, so uploads continue when the person
 * changes views. A few files are sent at once, and a few requests in all; the others wait in the order
 * of their arrival.
 *
 * An item that is done or cancelled leaves the queue, and only its size is counted: a queue of 10,000
 * files keeps no finished file in memory.
 */
import { CallAttempts, type AttemptOptions } from "./call-attempts.ts";
import { folderOf } from "./dropped-key.ts";
import { noneFinished, withDone, withSkipped, type FinishedUploads } from "./finished-uploads.ts";
import { planParts } from "./part-plan.ts";
import {
  dropUpload,
  FileDiffersError,
  readParts,
  sendFile,
  type SendContext,
} from "./send-file.ts";
import { TransferRate } from "./transfer-rate.ts";
import { TransferSlots } from "./transfer-slots.ts";
import { UploadItem, type Choice } from "./upload-item.ts";
import { explainDifference, isSameFile, type UploadRecord } from "./upload-record.ts";
import { isUploadGone, type ObjectTarget } from "./upload-transport.ts";

/** Ours: browsers open six connections to a server, and the page itself needs some. */
const filesAtOnce = 3;
const requestsAtOnce = 4;

export interface QueueOptions
  extends
    Pick<SendContext, "transport" | "records" | "digest">,
    Pick<AttemptOptions, "sleep" | "random"> {
  /** Milliseconds since the epoch */
  readonly now: () => number;
}

export interface NewFile extends ObjectTarget {
  readonly file: File;
}

export class UploadQueue {
  readonly #options: QueueOptions;
  readonly #context: SendContext;
  readonly #items = new Map<number, UploadItem>();
  /** By bucket and key, to find the item of a file that is dropped again. */
  readonly #byTarget = new Map<string, UploadItem>();
  readonly #queued = new Set<UploadItem>();
  readonly #running = new Map<UploadItem, { end: AbortController; settled: Promise<void> }>();
  readonly #listeners = new Set<() => void>();
  readonly #doneListeners = new Set<(item: UploadItem) => void>();
  readonly #rate = new TransferRate();
  #sentBytes = 0;
  #nextId = 1;
  #finished = noneFinished;
  /** The answer for all keys that exist, until the queue is empty. */
  #choiceForAll: Choice | null = null;

  constructor(options: QueueOptions) {
    this.#options = options;
    const { transport, records, digest, sleep, random } = options;
    const attempts = new CallAttempts({
      sleep,
      random,
      isReachable: () =>
        transport.project().then(
          () => true,
          () => false,
        ),
      onAway: () => this.#changed(),
    });
    this.#context = {
      transport,
      attempts,
      records,
      digest,
      slots: new TransferSlots(requestsAtOnce),
      partsAtOnce: requestsAtOnce,
      onChange: () => this.#changed(),
      onProgress: (item, partNumber, bytes) => this.#progress(item, partNumber, bytes),
    };
  }

  /** In the order of their arrival. */
  get items(): Iterable<UploadItem> {
    return this.#items.values();
  }

  get finished(): FinishedUploads {
    return this.#finished;
  }

  /** Whether uploads wait for the explorer, which does not answer. */
  get isAway(): boolean {
    return this.#context.attempts.isAway;
  }

  /** Whether files are being sent, or wait for others. */
  get isActive(): boolean {
    return this.#running.size + this.#queued.size > 0;
  }

  /** `null` while the rate is not known. */
  get bytesPerSecond(): number | null {
    return this.#running.size === 0 ? null : this.#rate.bytesPerSecond(this.#options.now());
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns a function that ends the subscription */
  subscribeDone(listener: (item: UploadItem) => void): () => void {
    this.#doneListeners.add(listener);
    return () => this.#doneListeners.delete(listener);
  }

  /** A file that is in the queue already continues; the others are added. */
  add(files: readonly NewFile[]): void {
    if (this.#items.size === 0) this.#finished = noneFinished;
    const withoutFile = Array.from(this.#items.values()).filter((item) => item.file === null);
    for (const { bucket, key, file } of files) {
      const before =
        withoutFile.find((item) => isSameFile(item, file) && isSameFolder(item, { bucket, key })) ??
        this.#byTarget.get(target(bucket, key));
      if (before !== undefined && isSameFile(before, file)) {
        if (before.file === null) this.choose(before.id, file);
        else this.resume(before.id);
        continue;
      }
      const { name, size, lastModified } = file;
      this.#enqueue(this.#newItem({ bucket, key, name, size, lastModified, file }));
    }
    this.#schedule();
  }

  /** Shows the uploads of earlier visits, which wait for their files. */
  async restore(): Promise<void> {
    const { transport, records } = this.#options;
    if (records.all().length === 0) return;
    const endless = new AbortController().signal;
    const project = await this.#context.attempts.run(endless, () => transport.project());
    await Promise.all(
      records
        .all()
        .filter((record) => record.project === project)
        .map(async (record) => {
          if (await records.claim(record.uploadId)) await this.#restoreRecord(record);
        }),
    );
  }

  pause(id: number): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    const run = this.#running.get(item);
    if (run === undefined && !this.#queued.delete(item)) return;
    item.state = "paused";
    run?.end.abort(ended);
    this.#changed();
  }

  /** Continues after a pause or a failure. */
  resume(id: number): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    if (item.state === "failed" && item.choice === "skip") void this.cancel(id);
    else if (item.state === "paused" || item.state === "failed") this.#enqueue(item);
    this.#schedule();
  }

  /** Removes the item, and aborts its upload in parts. */
  async cancel(id: number): Promise<void> {
    const item = this.#items.get(id);
    if (item === undefined || item.state === "cancelling") return;
    item.state = "cancelling";
    // A failed abort is tried again, and nothing else.
    item.choice = "skip";
    this.#queued.delete(item);
    this.#changed();
    const run = this.#running.get(item);
    run?.end.abort(ended);
    await run?.settled;
    try {
      await dropUpload(item, this.#context, new AbortController().signal);
      this.#remove(item);
    } catch (error) {
      this.#fail(item, error);
    }
    this.#schedule();
  }

  pauseAll(): void {
    for (const item of this.#items.values()) this.pause(item.id);
  }

  resumeAll(): void {
    for (const item of this.#items.values()) this.resume(item.id);
  }

  /** Removes the counts of files that are done. */
  clear(): void {
    this.#finished = noneFinished;
    this.#changed();
  }

  async cancelAll(): Promise<void> {
    await Promise.all(Array.from(this.#items.keys(), (id) => this.cancel(id)));
  }

  /** Decides about a key that exists: for one file, or for all until the queue is empty. */
  answer(id: number, choice: Choice, isForAll: boolean): void {
    if (isForAll) this.#choiceForAll = choice;
    for (const item of this.#items.values()) {
      if (item.state === "exists" && (isForAll || item.id === id)) this.#decide(item, choice);
    }
    this.#schedule();
  }

  /** The person chooses the file of an upload of an earlier visit. */
  choose(id: number, file: File): void {
    const item = this.#items.get(id);
    if (item === undefined || this.#running.has(item)) return;
    if (item.state === "gone") this.#startAgain(item, file);
    else this.#attach(item, file);
    this.#schedule();
  }

  /** Uploads the chosen file that differs, from the start. */
  async startAgain(id: number): Promise<void> {
    const item = this.#items.get(id);
    if (item === undefined || item.refused === null) return;
    const file = item.refused;
    item.state = "cancelling";
    this.#changed();
    try {
      await dropUpload(item, this.#context, new AbortController().signal);
      this.#startAgain(item, file);
    } catch (error) {
      item.state = "differs";
      item.message = (error as Error).message;
    }
    this.#schedule();
  }

  /** Ends the item of an upload that the person aborts elsewhere in the page. */
  async cancelUpload(uploadId: string): Promise<void> {
    for (const item of this.#items.values()) {
      if (item.multipart?.uploadId === uploadId) await this.cancel(item.id);
    }
  }

  #newItem(options: Omit<ConstructorParameters<typeof UploadItem>[0], "id">): UploadItem {
    const item = new UploadItem({ ...options, id: this.#nextId++ });
    this.#items.set(item.id, item);
    this.#byTarget.set(target(item.bucket, item.firstKey), item);
    return item;
  }

  #enqueue(item: UploadItem): void {
    item.state = "queued";
    item.message = null;
    this.#queued.add(item);
  }

  #attach(item: UploadItem, file: File): void {
    const difference = explainDifference(item, file);
    if (difference !== null) {
      item.state = "differs";
      item.message = difference;
      item.refused = file;
      return;
    }
    item.file = file;
    item.refused = null;
    item.isUnverified = true;
    this.#enqueue(item);
  }

  #startAgain(item: UploadItem, file: File): void {
    item.replaceFile(file);
    this.#enqueue(item);
  }

  async #restoreRecord({ bucket, key, uploadId, partBytes, ...file }: UploadRecord): Promise<void> {
    const item = this.#newItem({ ...file, bucket, key, file: null });
    item.state = "without file";
    item.multipart = { uploadId, plan: planParts(item.size, partBytes), parts: new Map() };
    this.#changed();
    try {
      await readParts(item, this.#context, new AbortController().signal);
    } catch (error) {
      // A file that is attached by now is told by its own run.
      if (!isUploadGone(error) || item.file !== null) return;
      item.multipart = null;
      item.state = "gone";
      this.#options.records.remove(uploadId);
      this.#changed();
    }
  }

  #schedule(): void {
    for (const item of this.#queued) {
      if (this.#running.size >= filesAtOnce) break;
      // A pause takes effect when the requests have ended.
      if (this.#running.has(item)) continue;
      this.#queued.delete(item);
      const end = new AbortController();
      item.state = "uploading";
      item.rate.reset();
      this.#running.set(item, { end, settled: this.#run(item, end.signal) });
    }
    if (this.#items.size === 0) this.#choiceForAll = null;
    this.#changed();
  }

  async #run(item: UploadItem, signal: AbortSignal): Promise<void> {
    // After the run is registered.
    await Promise.resolve();
    try {
      const outcome = await sendFile(item, this.#context, signal);
      this.#running.delete(item);
      if (outcome === "done") this.#finish(item);
      else if (item.state === "uploading") this.#ask(item);
    } catch (error) {
      this.#running.delete(item);
      // After a pause or a cancellation the item has its state already.
      if (!signal.aborted) this.#fail(item, error);
    }
    this.#schedule();
  }

  #ask(item: UploadItem): void {
    item.state = "exists";
    if (this.#choiceForAll !== null) this.#decide(item, this.#choiceForAll);
  }

  #decide(item: UploadItem, choice: Choice): void {
    if (choice === "skip") {
      this.#finished = withSkipped(this.#finished);
      void this.cancel(item.id);
      return;
    }
    item.choice = choice;
    if (choice === "keep both" && item.multipart === null) item.takeNextKey();
    this.#enqueue(item);
  }

  #finish(item: UploadItem): void {
    item.state = "done";
    this.#finished = withDone(this.#finished, item);
    this.#remove(item);
    item.file = null;
    for (const listener of this.#doneListeners) listener(item);
  }

  #fail(item: UploadItem, error: unknown): void {
    if (error instanceof FileDiffersError) {
      item.state = "differs";
      item.refused = item.file;
      item.file = null;
    } else item.state = "failed";
    item.message = (error as Error).message;
  }

  #remove(item: UploadItem): void {
    this.#items.delete(item.id);
    this.#queued.delete(item);
    const key = target(item.bucket, item.firstKey);
    if (this.#byTarget.get(key) === item) this.#byTarget.delete(key);
  }

  #progress(item: UploadItem, partNumber: number, bytes: number): void {
    const at = this.#options.now();
    this.#sentBytes += item.progress(partNumber, bytes, at);
    this.#rate.add(at, this.#sentBytes);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** No bucket name has a slash. */
function target(bucket: string, key: string): string {
  return `${bucket}/${key}`;
}

/** The name may have a number since the key existed. */
function isSameFolder(item: UploadItem, { bucket, key }: ObjectTarget): boolean {
  return item.bucket === bucket && folderOf(item.key) === folderOf(key);
}

/** The reason of runs that a pause or a cancellation ends. */
const ended = new Error("The upload was paused or cancelled.");
