/**
 * A bucket on an S3 service, as its configuration describes it, and what the service honours. Services
 * differ, and some ignore a condition silently, so the probe (`probe.ts`) tries each feature instead of
 * asking for a version.
 */

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
  readonly bucketName: string;
  /** Begins each key of the service's bucket. */
  readonly prefix: string;
}

export interface RemoteAccess extends RemotePlace {
  readonly credentials: RemoteCredentials;
  readonly accept: readonly RemoteGap[];
}

export function remoteVariables(remote: string) {
  const begin = `LEDGE_REMOTE_${remote.toUpperCase().replaceAll("-", "_")}`;
  return {
    accessKeyId: `${begin}_ACCESS_KEY_ID`,
    secretAccessKey: `${begin}_SECRET_ACCESS_KEY`,
    sessionToken: `${begin}_SESSION_TOKEN`,
  };
}

/** What may not hold at an endpoint: the words of `accept` in the configuration. */
export const remoteGaps = [
  "conditional-put",
  "conditional-complete",
  "conditional-delete",
] as const;
export type RemoteGap = (typeof remoteGaps)[number];

export interface RemoteFeatures {
  /** How `If-Match` of a put names an entity tag; `null` when the service ignores it. */
  readonly putIfMatch: "quoted" | "unquoted" | null;
  /** `If-None-Match: *` of a put. */
  readonly putIfNoneMatch: boolean;
  readonly conditionalComplete: boolean;
  readonly conditionalDelete: boolean;
}

/** For a bucket that is only read, or that has one writer. */
export const noFeatures: RemoteFeatures = {
  putIfMatch: null,
  putIfNoneMatch: false,
  conditionalComplete: false,
  conditionalDelete: false,
};

/** What does not hold, in the order of `remoteGaps`. */
export function gapsOf(features: RemoteFeatures): RemoteGap[] {
  const holds: Readonly<Record<RemoteGap, boolean>> = {
    "conditional-put": features.putIfMatch !== null && features.putIfNoneMatch,
    "conditional-complete": features.conditionalComplete,
    "conditional-delete": features.conditionalDelete,
  };
  return remoteGaps.filter((gap) => !holds[gap]);
}
