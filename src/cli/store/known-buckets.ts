/** The buckets that the command line can name: configured buckets and buckets on disk. */
import { nearest } from "../../base/nearest.ts";
import { NotFoundError } from "../../base/user-error.ts";
import type { BucketBinding } from "../../config/store-buckets.ts";
import type { RemoteAccess } from "../../store/remote/remote-options.ts";

export interface KnownBucket {
  readonly bucketName: string;
  readonly bindings: readonly string[];
  /** The name of the deployed bucket, if the preview bucket has another name. */
  readonly otherNames: readonly string[];
  /** The storage class of objects that are put without one. */
  readonly storageClass: Required<BucketBinding>["storageClass"];
  /** Where the bucket is, if it is on an S3 service. */
  readonly remote?: RemoteAccess;
}

/** Each bucket once, sorted by name. */
export function mergeBuckets(
  configured: readonly BucketBinding[],
  onDisk: readonly string[],
  remotes: ReadonlyMap<string, RemoteAccess> = new Map(),
): KnownBucket[] {
  const buckets = new Map<string, KnownBucket>();
  for (const { binding, storageClass = "Standard", ...names } of configured) {
    const bucketName = names.previewBucketName ?? names.bucketName;
    const known = buckets.get(bucketName);
    const remote = remotes.get(bucketName);
    buckets.set(bucketName, {
      bucketName,
      storageClass,
      bindings: [...(known?.bindings ?? []), binding],
      otherNames: [
        ...(known?.otherNames ?? []),
        ...(names.bucketName === bucketName ? [] : [names.bucketName]),
      ],
      ...(remote !== undefined && { remote }),
    });
  }
  for (const bucketName of onDisk) {
    if (buckets.has(bucketName)) continue;
    buckets.set(bucketName, { bucketName, storageClass: "Standard", bindings: [], otherNames: [] });
  }
  return [...buckets.values()].sort((a, b) => (a.bucketName < b.bucketName ? -1 : 1));
}

/**
 * Returns the bucket with this name or, if there is none, with this binding.
 *
 * @throws NotFoundError with a suggestion
 */
export function findBucket(buckets: readonly KnownBucket[], word: string): KnownBucket {
  const found =
    buckets.find(({ bucketName }) => bucketName === word) ??
    buckets.find((bucket) => [...bucket.bindings, ...bucket.otherNames].includes(word));
  if (found !== undefined) return found;
  const names = buckets.flatMap(({ bucketName, bindings }) => [bucketName, ...bindings]);
  const guess = nearest(word, names);
  const known = buckets.map(({ bucketName }) => `"${bucketName}"`).join(", ");
  throw new NotFoundError(
    `There is no bucket "${word}".` +
      (guess !== null
        ? ` Did you mean "${guess}"?`
        : known === ""
          ? " The project has no buckets: add one to store_buckets in the configuration."
          : ` The buckets are ${known}.`),
  );
}
