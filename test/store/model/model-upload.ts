/** Multipart uploads of the model. An upload is in progress until it is completed or aborted. */
import type { AnyObject } from "./describe.ts";
import type { AnyUpload } from "./execute.ts";
import type { ModelBucket } from "./model.ts";
import { checkValue, readValue } from "./rules/arguments.ts";
import { hexDigest } from "./rules/checksum.ts";
import { parameterError, storeError, type Action } from "./rules/errors.ts";
import type { Metadata } from "./rules/metadata.ts";

/** Limits of the specification. */
const partSizeBytesMin = 5 * 1024 * 1024;
const partNumberMax = 10_000;

export interface Upload {
  readonly key: string;
  readonly metadata: Metadata;
  readonly storageClass: string;
  readonly parts: Map<number, Part>;
  ended: boolean;
}

interface Part {
  readonly partNumber: number;
  readonly etag: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class ModelUpload implements AnyUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly #bucket: ModelBucket;

  constructor(bucket: ModelBucket, { key, uploadId }: { key: string; uploadId: string }) {
    this.#bucket = bucket;
    this.key = key;
    this.uploadId = uploadId;
  }

  async uploadPart(...args: unknown[]): Promise<{ partNumber: number; etag: string }> {
    if (args.length < 1) throw parameterError("uploadPart", { position: 1, type: "integer" });
    const partNumber = readPartNumber(args[0]);
    checkValue(args[1], { method: "uploadPart", position: 2 });
    const upload = this.#inProgress("uploadPart");
    const bytes = (await readValue(args[1])).slice();
    const etag = hexDigest("md5", bytes);
    upload.parts.set(partNumber, { partNumber, etag, bytes });
    return { partNumber, etag };
  }

  async complete(...args: unknown[]): Promise<AnyObject> {
    const [given] = args;
    if (!Array.isArray(given)) throw parameterError("complete", { position: 1, type: "Array" });
    const wanted = given.map((part: { partNumber?: unknown; etag?: unknown }) => ({
      partNumber: readPartNumber(part.partNumber),
      etag: String(part.etag),
    }));
    const upload = this.#inProgress("completeMultipartUpload");
    const distinct = new Set(wanted.map(({ partNumber }) => partNumber));
    if (wanted.length === 0 || distinct.size < wanted.length) {
      throw storeError("completeMultipartUpload", 10048);
    }
    const parts = wanted.map(({ partNumber, etag }) => {
      const part = upload.parts.get(partNumber);
      if (part?.etag !== etag) throw storeError("completeMultipartUpload", 10025);
      return part;
    });
    parts.sort((a, b) => a.partNumber - b.partNumber);
    checkPartSizes(parts.map(({ bytes }) => bytes.length));
    this.#end(upload);
    const hashes = Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, "hex")));
    return this.#bucket.store({
      key: upload.key,
      etag: `${hexDigest("md5", hashes)}-${parts.length}`,
      metadata: upload.metadata,
      checksums: {},
      storageClass: upload.storageClass,
      chunks: parts.map(({ bytes }) => bytes),
    });
  }

  /** abort() of an ended upload succeeds; abort() of an unknown upload fails. */
  async abort(): Promise<void> {
    const upload = this.#bucket.uploads.get(this.uploadId);
    if (upload?.key !== this.key) throw storeError("abortMultipartUpload", 10024);
    this.#end(upload);
  }

  #inProgress(action: Action): Upload {
    const upload = this.#bucket.uploads.get(this.uploadId);
    if (upload?.key !== this.key || upload.ended) throw storeError(action, 10024);
    return upload;
  }

  #end(upload: Upload): void {
    upload.ended = true;
    upload.parts.clear();
  }
}

function readPartNumber(value: unknown): number {
  // The platform's conversion to a 32-bit integer turns a value that is not a number into 0.
  const partNumber = Math.trunc(Number(value)) || 0;
  if (partNumber < 1 || partNumber > partNumberMax) {
    throw new TypeError(
      `Part number must be between 1 and ${partNumberMax} (inclusive). Actual value was: ${partNumber}`,
    );
  }
  return partNumber;
}

/** All parts except the last have the same size, at least 5 MiB. The last part may be smaller. */
function checkPartSizes(sizes: readonly number[]): void {
  const [first = 0] = sizes;
  const last = sizes.at(-1) ?? 0;
  const others = sizes.slice(0, -1);
  if (others.some((size) => size < partSizeBytesMin)) {
    throw storeError("completeMultipartUpload", 10011);
  }
  if (others.some((size) => size !== first) || last > first) {
    throw storeError("completeMultipartUpload", 10048);
  }
}
