/**
 * The module behind a binding: workerd calls the default export with the inner bindings, once for
 * each script, before the script runs. There is no I/O, no randomness and no time here.
 */
import { BucketClient, type BucketAccess } from "../client/bucket-client.ts";
import type { BucketNamespace } from "../transport/bucket-service.ts";
import { answeringRemote } from "./remote.ts";
import type { BucketSettings } from "./settings.ts";
import { StoreBucket } from "./store-bucket.ts";

interface InnerBindings {
  readonly buckets: BucketNamespace;
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly bucket: Pick<BucketAccess, "bucketName" | "runId" | "rpc" | "latencyMilliseconds">;
  readonly settings: BucketSettings;
}

export default function createBinding(inner: InnerBindings): StoreBucket {
  const { buckets, blobs, joiner, bucket, settings } = inner;
  const client = new BucketClient({ buckets, blobs, joiner, ...bucket });
  return answeringRemote(new StoreBucket(client, settings), client, bucket.bucketName);
}
