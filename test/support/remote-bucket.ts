/** Buckets on an S3 service, as options of the plugin. */

/** An S3 service, as plain data: a test run hands it to its workers. */
export interface RemoteService {
  /** Names the expectations of the service. */
  readonly name: "ledge" | "ceph";
  /** An origin: `http://127.0.0.1:8789`. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    /** Of a project whose tests run in workerd. */
    service: RemoteService;
  }
}

/** The buckets that the suites use. */
export const remoteBuckets = ["conformance", "conformance-infrequent", "model", "faults"];

/** The options of a bucket. `bucket_name` is the service's bucket. */
export function remoteOptions(
  { endpoint, accessKeyId, secretAccessKey }: Omit<RemoteService, "name">,
  prefix = "",
) {
  return {
    remote: {
      name: "cluster",
      endpoint,
      prefix,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
    },
  };
}
