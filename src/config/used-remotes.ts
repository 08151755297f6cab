/** The buckets of a project that are on an S3 service, by the names that the project uses. */
import type { RemoteAccess } from "../store/remote/remote-options.ts";
import { remotePlace, type ProjectRemote } from "./remotes.ts";

interface UsedBucket {
  readonly bucketName: string;
  readonly previewBucketName?: string;
  readonly remote?: ProjectRemote;
}

export function usedRemotes(buckets: readonly UsedBucket[]): Map<string, RemoteAccess> {
  const remotes = new Map<string, RemoteAccess>();
  for (const { bucketName, previewBucketName, remote } of buckets) {
    if (remote === undefined) continue;
    const name = previewBucketName ?? bucketName;
    const { credentials, accept } = remote;
    remotes.set(name, { ...remotePlace(remote, name), credentials, accept });
  }
  return remotes;
}
