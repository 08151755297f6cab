/**
 * The module of a wrapped binding. workerd calls the default export with the inner bindings, once
 * for each script, in global scope: without I/O, randomness or time.
 */
import { BucketClient, type BucketAccess } from "../client/bucket-client.ts";
import { tracedCalls, type Tracing } from "../client/traced-calls.ts";
import type { BucketNamespace } from "../client/batch.ts";
import { defineHiddenProperties } from "../client/proxied-calls.ts";
import type { BucketSettings } from "../core/operations.ts";
import { StoreBucket } from "./store-bucket.ts";

interface InnerBindings {
  readonly buckets: BucketNamespace;
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly disk: Fetcher;
  readonly bucket: Omit<BucketAccess, "buckets" | "blobs" | "joiner" | "disk">;
  readonly settings: BucketSettings;
}

/** @param tracing of the runtime, for a binding whose calls the explorer shows */
export default function createBinding(inner: InnerBindings, tracing?: Tracing): StoreBucket {
  const { buckets, blobs, joiner, disk, bucket, settings } = inner;
  const client = new BucketClient({ buckets, blobs, joiner, disk, ...bucket });
  const { bucketName } = bucket;
  const calls = tracedCalls(client, bucketName, tracing);
  return defineHiddenProperties(new StoreBucket(calls, settings), client, bucketName);
}
