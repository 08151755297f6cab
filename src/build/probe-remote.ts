/** What the S3 service of a bucket honours: as the service shows, or as the build assumes. */
import type { ProjectRemote } from "../config/remotes.ts";
import { requireRemote } from "../store/node/remote-buckets.ts";
import type { RemoteFeatures, RemoteGap, RemotePlace } from "../store/remote/remote-options.ts";

/** @throws UserError when the service cannot be used, or lacks what a bucket needs */
export async function remoteFeatures(
  { credentials, accept }: ProjectRemote,
  place: RemotePlace,
  probe: boolean,
): Promise<RemoteFeatures> {
  return probe ? requireRemote({ ...place, credentials, accept }) : assumedFeatures(accept);
}

/** The features of AWS, without the gaps that the configuration accepts. */
export function assumedFeatures(accept: readonly RemoteGap[]): RemoteFeatures {
  const has = (gap: RemoteGap): boolean => !accept.includes(gap);
  return {
    putIfMatch: has("conditional-put") ? "quoted" : null,
    putIfNoneMatch: has("conditional-put"),
    conditionalComplete: has("conditional-complete"),
    conditionalDelete: has("conditional-delete"),
  };
}
