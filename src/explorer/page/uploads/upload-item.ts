/** A file in the queue: where it goes, how far it is, and what it waits for. */
import { contentTypeOf } from "./content-type.ts";
import { numberedKey } from "./dropped-key.ts";
import { partSize, type PartPlan } from "./part-plan.ts";
import { TransferRate } from "./transfer-rate.ts";

/**
 * - `checking`: the file is compared with the parts that the store has
 * - `exists`: the key has an object, and the person decides
 * - `without file`: after a reload the person chooses the file again
 * - `differs`: the chosen file is not the file of the upload
 * - `gone`: after a reload the store does not have the upload any more
 */
export type UploadState =
  | "queued"
  | "checking"
  | "uploading"
  | "paused"
  | "exists"
  | "failed"
  | "without file"
  | "differs"
  | "gone"
  | "cancelling"
  | "done";

/** What to do with a key that has an object. */
export type Choice = "replace" | "keep both" | "skip";

/** An upload in parts that the store has. */
export interface Multipart {
  readonly uploadId: string;
  readonly plan: PartPlan;
  /** The entity tags of the parts that the store has, by number. */
  readonly parts: Map<number, string>;
}

interface ItemOptions {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  readonly file: File | null;
}

export class UploadItem {
  readonly id: number;
  readonly bucket: string;
  /** The key without the number of a second name. */
  readonly firstKey: string;
  key: string;
  name: string;
  size: number;
  lastModified: number;
  file: File | null;
  state: UploadState = "queued";
  /** Why the upload failed, or another remark. */
  message: string | null = null;
  choice: Choice | null = null;
  multipart: Multipart | null = null;
  /** Whether the file was chosen after a reload, and may be another file. */
  isUnverified = false;
  /** Whether the file was sent by one request before, maybe without a response. */
  isRepeated = false;
  /** The chosen file that differs. */
  refused: File | null = null;
  readonly rate = new TransferRate();
  /** Bytes of the requests in flight, by part; 0 for a file without parts. */
  readonly #inFlight = new Map<number, number>();
  #number = 1;

  constructor({ id, bucket, key, name, size, lastModified, file }: ItemOptions) {
    this.id = id;
    this.bucket = bucket;
    this.firstKey = key;
    this.key = key;
    this.name = name;
    this.size = size;
    this.lastModified = lastModified;
    this.file = file;
  }

  get contentType(): string | undefined {
    return contentTypeOf({ name: this.name, type: this.file?.type ?? "" });
  }

  get sentBytes(): number {
    if (this.state === "done") return this.size;
    let bytes = 0;
    for (const sent of this.#inFlight.values()) bytes += sent;
    if (this.multipart !== null) {
      const { plan, parts } = this.multipart;
      bytes += parts.size * plan.partBytes;
      if (parts.has(plan.count)) bytes -= plan.partBytes - partSize(plan, plan.count);
    }
    return Math.min(bytes, this.size);
  }

  /** @returns how many more bytes have been sent than before */
  progress(partNumber: number, bytes: number, at: number): number {
    const more = bytes - (this.#inFlight.get(partNumber) ?? 0);
    this.#inFlight.set(partNumber, bytes);
    this.rate.add(at, this.sentBytes);
    return Math.max(0, more);
  }

  endProgress(partNumber: number): void {
    this.#inFlight.delete(partNumber);
  }

  /** Takes the next second name. */
  takeNextKey(): void {
    this.#number++;
    this.isRepeated = false;
    this.key = numberedKey(this.firstKey, this.#number);
  }

  /** Begins from the start with another file, for the same key. */
  replaceFile(file: File): void {
    this.file = file;
    this.name = file.name;
    this.size = file.size;
    this.lastModified = file.lastModified;
    this.refused = null;
    this.isUnverified = false;
  }
}
