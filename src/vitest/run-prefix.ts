/**
 * Remote buckets in tests. The undo of writes is a matter of local buckets, so the tests of a run share what
 * they write. But each run has a prefix of its own in the service's bucket, which is removed at its end.
 */
import { randomBytes } from "node:crypto";
import type { BucketBinding } from "../config/read-config.ts";
import { remotePlace, type ProjectRemote } from "../store/config/remotes.ts";
import type { RemotePlace } from "../store/remote/remote-options.ts";

interface UsedPlace {
  readonly place: RemotePlace;
  readonly remote: ProjectRemote;
}

export class RunPrefix {
  readonly #name = `test-${randomBytes(6).toString("hex")}/`;
  /** By their text: two bindings can name one bucket. */
  readonly #used = new Map<string, UsedPlace>();

  /** The buckets of a run: those of services have the prefix of the run behind their own. */
  apply(buckets: readonly BucketBinding[]): BucketBinding[] {
    return buckets.map((bucket) => {
      if (bucket.remote === undefined) return bucket;
      const remote = { ...bucket.remote, prefix: bucket.remote.prefix + this.#name };
      const place = remotePlace(remote, bucket.previewBucketName ?? bucket.bucketName);
      const key = describePlace(place);
      // Said at the start: a run that is killed leaves its objects.
      if (!this.#used.has(key)) console.log(`Tests write to ${key}, and remove it at the end.`);
      this.#used.set(key, { place, remote });
      return { ...bucket, remote };
    });
  }

  /** Removes what the run has written. A failure is a warning: the tests have their results. */
  async remove(): Promise<void> {
    const used = [...this.#used];
    this.#used.clear();
    if (used.length === 0) return;
    const { removePrefix } = await import("../store/node/removed-prefix.ts");
    for (const [key, { place, remote }] of used) {
      await removePrefix(place, remote.credentials).catch((error: Error) => {
        console.warn(`Cannot remove ${key}: ${error.message} Remove it yourself.`);
      });
    }
  }
}

function describePlace({ prefix, bucketName, remote, endpoint }: RemotePlace): string {
  return `"${prefix}" in the bucket "${bucketName}" of the remote "${remote}" (${endpoint})`;
}
