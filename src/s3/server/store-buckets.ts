/** The buckets of a store, for the verbs: each with its settings of the configuration. */
import type { ChecksumAlgorithm } from "../../store/core/checksum.ts";
import type { Content } from "../../store/core/operations.ts";
import type { Bucket, FoundObject as StoredObject } from "../../store/node/bucket.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import type { CorsRule } from "../cors-rules.ts";
import type { BucketRecord, CopiedObject, S3Bucket, S3Buckets } from "../s3-bucket.ts";

/** The settings of a bucket that its configuration has. */
export interface BucketSettings {
  readonly isPublic: boolean;
  readonly cors: readonly CorsRule[];
}

const otherBucket: BucketSettings = { isPublic: false, cors: [] };

export class StoreBuckets implements S3Buckets {
  readonly #client: StoreClient;
  readonly #settings: (name: string) => BucketSettings | undefined;

  /** @param settings is called for each request, because the configuration may change */
  constructor(client: StoreClient, settings: (name: string) => BucketSettings | undefined) {
    this.#client = client;
    this.#settings = settings;
  }

  list(): Promise<readonly BucketRecord[]> {
    return this.#client.list();
  }

  async find(name: string): Promise<S3Bucket | null> {
    const found = await this.#client.find(name);
    return found === null ? null : new ServedBucket(found, this.#settings(name) ?? otherBucket);
  }

  create(name: string): Promise<void> {
    return this.#client.create(name);
  }

  delete(name: string): Promise<void> {
    return this.#client.delete(name);
  }
}

class ServedBucket implements S3Bucket {
  readonly isPublic: boolean;
  readonly configuredCors: readonly CorsRule[];
  readonly call: S3Bucket["call"];
  readonly get: S3Bucket["get"];
  readonly write: S3Bucket["write"];
  readonly #stored: Bucket;

  constructor(stored: Bucket, { isPublic, cors }: BucketSettings) {
    this.#stored = stored;
    this.isPublic = isPublic;
    this.configuredCors = cors;
    this.call = (request) => stored.call(request);
    this.get = (request) => stored.get(request);
    this.write = (body, options) => stored.write(body, options);
  }

  copy({ opened }: CopiedObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content> {
    return this.#stored.copy(opened as StoredObject, algorithms);
  }
}
