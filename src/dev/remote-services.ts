/** The S3 services of a project's buckets: their check before a start, and what the summary says of them. */
import type { BucketBinding } from "../config/read-config.ts";
import { remotePlace } from "../config/remotes.ts";
import { requireRemote } from "../store/node/remote-buckets.ts";
import { gapsOf, type RemoteGap } from "../store/remote/remote-options.ts";

export interface RemoteSummary {
  readonly name: string;
  readonly endpoint: string;
  /** What the service lacks. */
  readonly gaps: readonly RemoteGap[];
}

/** @throws UserError for a service that cannot be used, or that lacks what a bucket needs */
export async function checkRemotes(buckets: readonly BucketBinding[]): Promise<RemoteSummary[]> {
  const checked = await Promise.all(
    buckets.flatMap(({ bucketName, previewBucketName, remote }) => {
      if (remote === undefined) return [];
      const { name, endpoint, credentials, accept } = remote;
      const place = remotePlace(remote, previewBucketName ?? bucketName);
      return requireRemote({ ...place, credentials, accept }).then((features) => ({
        name,
        endpoint,
        gaps: gapsOf(features),
      }));
    }),
  );
  // Buckets of one service have the same features.
  return [...new Map(checked.map((remote) => [remote.name, remote])).values()];
}

export function renderRemote({ name, endpoint, gaps }: RemoteSummary): string[] {
  return [
    `Remote     ${name}, ${endpoint}`,
    ...(gaps.length === 0 ? [] : [`  lacks    ${gaps.join(", ")}`]),
  ];
}
