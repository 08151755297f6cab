/** The bucket interface of all sides, and the state of one task on one side. */

export interface Stored {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
}

export interface StoredBody extends Stored {
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Page {
  readonly objects: readonly Stored[];
  readonly delimitedPrefixes: readonly string[];
}

export interface ListOptions {
  prefix?: string;
  delimiter?: string;
  limit?: number;
  include?: ("httpMetadata" | "customMetadata")[];
}

export interface PutOptions {
  onlyIf?: { etagMatches?: string; etagDoesNotMatch?: string };
}

export interface Upload<Part = unknown> {
  uploadPart(partNumber: number, value: Uint8Array): Promise<Part>;
  complete(parts: Part[]): Promise<Stored>;
}

/** The methods that all three sides have. */
export interface Bucket {
  put(key: string, value: Uint8Array, options?: PutOptions): Promise<Stored | null>;
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<StoredBody | null>;
  head(key: string): Promise<Stored | null>;
  delete(keys: string | string[]): Promise<void>;
  list(options: ListOptions): Promise<Page>;
  createMultipartUpload(key: string): Promise<Upload>;
}

/** How a side streams content that does not fit into memory. */
export interface Streams {
  put(bucket: Bucket, key: string, size: number, chunks: Iterable<Uint8Array>): Promise<Stored>;
  /** Reads the whole body, at most `readBytes` at a time, and returns its size. */
  drain(object: StoredBody, readBytes: number): Promise<number>;
}

export interface Task {
  readonly operation: string;
  /** The prefix of the task's keys. */
  readonly folder: string;
  readonly size: number;
  readonly atOnce: number;
  readonly list?: ListOptions;
}

/** The state of one task on one side, between requests. */
export class Session {
  /** Tasks with the same folder share a session, so that one can read the objects of another. */
  task: Task;
  /** A binding belongs to a request, so each request sets the bucket. */
  bucket: Bucket;
  readonly streams: Streams;
  keys: string[] = [];
  bodies: Uint8Array[] = [];
  etags: string[] = [];
  /** Contents that were read, for verification. */
  readonly seen = new Map<number, ArrayBuffer>();
  readonly written = new Set<string>();
  page: Page | undefined;

  constructor(task: Task, bucket: Bucket, streams: Streams) {
    this.task = task;
    this.bucket = bucket;
    this.streams = streams;
  }
}

/** The limit of `delete`. */
const deleteKeysMax = 1000;

export async function removeWritten(session: Session): Promise<void> {
  const keys = [...session.written];
  for (let start = 0; start < keys.length; start += deleteKeysMax) {
    await session.bucket.delete(keys.slice(start, start + deleteKeysMax));
  }
  session.written.clear();
}
