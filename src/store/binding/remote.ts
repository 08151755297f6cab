/**
 * The module of the wrapped binding of a bucket on an S3 service. workerd calls the default export with the
 * inner bindings, once for each script, in global scope: without I/O, randomness or time.
 */
import { DiskSpool, RemoteCalls } from "../client/remote-calls.ts";
import { tracedCalls, type Tracing } from "../client/traced-calls.ts";
import { BlobDirectory } from "../client/blob-directory.ts";
import type { BucketSettings } from "../core/operations.ts";
import { createFetchTransport } from "../remote/fetch-transport.ts";
import { RemoteBucket } from "../remote/remote-bucket.ts";
import {
  remoteVariables,
  type RemoteCredentials,
  type RemoteFeatures,
  type RemotePlace,
} from "../remote/remote-options.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import { defineHiddenProperties } from "../client/proxied-calls.ts";
import { StoreBucket } from "./store-bucket.ts";

interface InnerBindings {
  /** `null` where workerd takes keys from its environment, and the environment does not have them. */
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
  readonly sessionToken?: string | null;
  /** Where the bucket is, and what its service honours. */
  readonly remote: RemotePlace & { readonly features: RemoteFeatures };
  readonly network: Fetcher;
  /** A folder in which streams wait until they are sent. */
  readonly spool: Fetcher;
  readonly bucket: {
    readonly bucketName: string;
    readonly runId: string;
    readonly latencyMilliseconds: number;
  };
  readonly settings: BucketSettings;
}

/** @param tracing of the runtime, for a binding whose calls the explorer shows */
export default function createRemoteBinding(inner: InnerBindings, tracing?: Tracing): StoreBucket {
  const { remote, bucket, settings } = inner;
  const { features, ...place } = remote;
  const credentials = credentialsOf(inner);
  const { bucketName } = bucket;
  const blobs = new BlobDirectory(inner.spool, bucketName);
  const client = new RemoteCalls({
    ...bucket,
    blobs,
    bucket: new RemoteBucket({
      connection: new S3Connection(place, credentials, createFetchTransport(inner.network)),
      features,
      spool: new DiskSpool(blobs),
    }),
  });
  const calls = tracedCalls(client, bucketName, tracing);
  const binding = new StoreBucket(calls, settings);
  return defineHiddenProperties(binding, client, bucketName, { isRemote: true });
}

/** @throws Error, which ends the start of the runtime */
function credentialsOf(inner: InnerBindings): RemoteCredentials {
  const { remote, accessKeyId, secretAccessKey, sessionToken } = inner;
  if (!accessKeyId || !secretAccessKey) {
    const variables = remoteVariables(remote.remote);
    const variable = accessKeyId ? variables.secretAccessKey : variables.accessKeyId;
    throw new Error(`The environment has no ${variable}: set it before workerd starts.`);
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
