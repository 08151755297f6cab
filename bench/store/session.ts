/** A bucket as all sides have it, and what one side keeps of one task. */

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

/** What the three sides have in common. */
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

/** How a side moves content that is never in memory as a whole. */
export interface Streams {
  put(bucket: Bucket, key: string, size: number, chunks: Iterable<Uint8Array>): Promise<Stored>;
  /** Reads all of it, at most so many bytes at a time, and returns how many there were. */
  drain(object: StoredBody, readBytes: number): Promise<number>;
}

export interface Task {
  readonly operation: string;
  /** Under which the task keeps its objects. */
  readonly folder: string;
  readonly size: number;
  readonly atOnce: number;
  readonly list?: ListOptions;
}

/** What one side keeps of one task, from one request to the next. */
export class Session {
  /** Tasks with one folder share a session: what one has stored, the next can read. */
  task: Task;
  /** Bindings belong to a request, so each brings its own. */
  bucket: Bucket;
  readonly streams: Streams;
  keys: string[] = [];
  bodies: Uint8Array[] = [];
  etags: string[] = [];
  /** What was read, for a look at it afterwards. */
  readonly seen = new Map<number, ArrayBuffer>();
  readonly written = new Set<string>();
  page: Page | undefined;

  constructor(task: Task, bucket: Bucket, streams: Streams) {
    this.task = task;
    this.bucket = bucket;
    this.streams = streams;
  }
}

/** What a call to `delete` takes at most. */
const deleteKeysMax = 1000;

export async function removeWritten(session: Session): Promise<void> {
  const keys = [...session.written];
  for (let start = 0; start < keys.length; start += deleteKeysMax) {
    await session.bucket.delete(keys.slice(start, start + deleteKeysMax));
  }
  session.written.clear();
}
