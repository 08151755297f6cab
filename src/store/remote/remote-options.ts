/** A bucket on an S3 service, as its configuration describes it. */
import type { RemoteGap } from "./remote-features.ts";

export interface RemoteCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Where a bucket is. Without secrets: this part stands in files. */
export interface RemotePlace {
  /** The name of the table `[remotes.NAME]`, for messages. */
  readonly remote: string;
  /** `https://s3.example.net`, without a path. */
  readonly endpoint: string;
  readonly region: string;
  /** The bucket of the service. */
  readonly bucketName: string;
  /** Begins each key of the service's bucket. */
  readonly prefix: string;
}

/** A bucket before the probe. */
export interface RemoteAccess extends RemotePlace {
  readonly credentials: RemoteCredentials;
  /** What the service may lack. */
  readonly accept: readonly RemoteGap[];
}

/** The variables that hold the keys of a remote. */
export function remoteVariables(remote: string) {
  const begin = `LEDGE_REMOTE_${remote.toUpperCase().replaceAll("-", "_")}`;
  return {
    accessKeyId: `${begin}_ACCESS_KEY_ID`,
    secretAccessKey: `${begin}_SECRET_ACCESS_KEY`,
    sessionToken: `${begin}_SESSION_TOKEN`,
  };
}
