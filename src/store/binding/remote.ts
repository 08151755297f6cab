/**
 * The module of the wrapped binding of a bucket on an S3 service. workerd calls the default export with the
 * inner bindings, once for each script, in global scope: without I/O, randomness or time.
 */
import { DiskSpool, RemoteCalls } from "../client/remote-calls.ts";
import { tracedCalls, type Tracing } from "../client/traced-calls.ts";
import { BlobDirectory } from "../client/blob-directory.ts";
import type { BucketSettings } from "../core/operations.ts";
import { createFetchTransport } from "../remote/fetch-transport.ts";
import { confirmFeatures, requireBucket } from "../remote/probe.ts";
import { RemoteBucket } from "../remote/remote-bucket.ts";
import { bucketStatus, RemoteMetrics, type RemoteEvent } from "../remote/remote-metrics.ts";
import {
  gapsOf,
  remoteVariables,
  type RemoteCredentials,
  type RemoteFeatures,
  type RemoteGap,
  type RemotePlace,
} from "../remote/remote-options.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import { defineHiddenProperties } from "../client/proxied-calls.ts";
import { KeysFile } from "./keys-file.ts";
import { StoreBucket } from "./store-bucket.ts";

interface InnerBindings {
  /** `null` where workerd takes keys from its environment, and the environment does not have them. */
  readonly accessKeyId?: string | null;
  readonly secretAccessKey?: string | null;
  readonly sessionToken?: string | null;
  /** In a build: a file has the keys, in a folder. */
  readonly keys?: Fetcher;
  readonly keysFile?: string;
  /** Where the bucket is, and what its service honours. */
  readonly remote: RemotePlace & {
    readonly features: RemoteFeatures;
    /** In a build: the service may be another by now. */
    readonly accept?: readonly RemoteGap[];
  };
  readonly network: Fetcher;
  /** A folder in which streams wait until they are sent. */
  readonly spool: Fetcher;
  readonly bucket: {
    readonly bucketName: string;
    readonly runId: string;
    readonly latencyMilliseconds: number;
  };
  readonly settings: BucketSettings;
  /** In a build: the name of the binding, under which the status of the runtime has its metrics. */
  readonly status?: { readonly binding: string };
  /** In a build: `requests` writes a line of the log for each request. */
  readonly log?: string | null;
}

/** @param tracing of the runtime, for a binding whose calls the explorer shows */
export default function createRemoteBinding(inner: InnerBindings, tracing?: Tracing): StoreBucket {
  const { remote, bucket, settings } = inner;
  const { features, accept, ...place } = remote;
  const keys = keysOf(inner);
  const { bucketName } = bucket;
  const blobs = new BlobDirectory(inner.spool, bucketName);
  const metrics = new RemoteMetrics(logOf(inner));
  const transport = createFetchTransport(inner.network);
  const connection = new S3Connection(place, keys, metrics.transport(transport), {
    onRetry: (...retry) => metrics.retry(...retry),
  });
  const spool = new DiskSpool(blobs);
  // The lost races of a probe are not counted.
  const probed = new S3Connection(place, keys, transport);
  // What was found at the start was accepted there.
  const accepted = accept ?? gapsOf(features);
  const confirm = (hasVersionIds: boolean) =>
    confirmFeatures(probed, features, accepted, hasVersionIds);
  const isConfirmed = accept === undefined;
  const client = new RemoteCalls({
    ...bucket,
    blobs,
    bucket: new RemoteBucket({ connection, features, spool }, { metrics, confirm, isConfirmed }),
  });
  if (inner.status !== undefined) {
    // Not counted, and sent again at once: a check has little time.
    const checked = new S3Connection(place, keys, transport, { random: () => 0 });
    const check = () => requireBucket(checked);
    bucketStatus().set(inner.status.binding, { metrics, check });
  }
  const calls = tracedCalls(client, bucketName, tracing);
  const binding = new StoreBucket(calls, settings);
  return defineHiddenProperties(binding, client, bucketName, { isRemote: true });
}

function logOf({ status, log }: InnerBindings): ((event: RemoteEvent) => void) | undefined {
  if (status === undefined) return undefined;
  const hasRequests = log === "requests";
  return (event) => {
    if (event.event === "request" && !hasRequests) return;
    console.log(JSON.stringify({ ...event, binding: status.binding }));
  };
}

/** @throws Error, which ends the start of the runtime */
function keysOf(inner: InnerBindings): RemoteCredentials | KeysFile {
  if (inner.keys !== undefined) {
    const { features: _features, ...place } = inner.remote;
    return new KeysFile(inner.keys, inner.keysFile as string, place);
  }
  const { remote, accessKeyId, secretAccessKey, sessionToken } = inner;
  if (!accessKeyId || !secretAccessKey) {
    const variables = remoteVariables(remote.remote);
    const variable = accessKeyId ? variables.secretAccessKey : variables.accessKeyId;
    throw new Error(`The environment has no ${variable}: set it before workerd starts.`);
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
