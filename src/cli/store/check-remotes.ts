/** `ledge store check` of buckets on S3 services. */
import { checkRemote, type RemoteReport } from "../../store/node/check/check-remote.ts";
import { asUserError } from "../../store/node/command-bucket.ts";
import { RemoteBuckets } from "../../store/node/remote-buckets.ts";
import { withCleanup } from "../cleanup.ts";
import type { KnownBucket } from "./known-buckets.ts";

/** @throws UserError for a bucket that cannot be read */
export function checkRemotes(
  buckets: readonly KnownBucket[],
  onObject: (bytes: number) => void,
): Promise<RemoteReport[]> {
  const remotes = new RemoteBuckets();
  return withCleanup(
    async () => {
      const reports: RemoteReport[] = [];
      for (const { bucketName, remote } of buckets) {
        if (remote === undefined) continue;
        const bucket = remotes.bucket(bucketName, remote);
        reports.push(await asUserError(checkRemote(bucket, onObject)));
      }
      return reports;
    },
    () => remotes.close(),
  );
}
