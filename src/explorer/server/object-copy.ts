/**
 * Copies an object within a bucket or to another bucket. A file whose checksums are known is copied
 * without a read (`Bucket.copy`).
 */
import { algorithmsOf } from "../../http/headers.ts";
import type { Conditional } from "../../store/core/conditional.ts";
import { requireSameKey } from "../../store/core/metadata.ts";
import { StoreError } from "../../store/core/errors.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import { allChecksums, decodeObject } from "../../store/core/object.ts";
import type { DescribedObject, ObjectDescription } from "../../store/core/operations.ts";
import type { Bucket, FoundObject } from "../../store/node/bucket.ts";
import { OpenedContent } from "./opened-content.ts";

/** Holds only when no object has the key. */
export const onlyIfAbsent: Conditional = { etagDoesNotMatch: [{ kind: "any" }] };

interface CopySource {
  readonly bucket: Bucket;
  readonly key: string;
  readonly onlyIf?: Conditional;
}

interface VersionedSource extends CopySource {
  /** The copy is refused if the source has another version: metadata have no part in the etag. */
  readonly version?: string;
}

interface CopyTarget extends CopySource {
  /** Default: that of the source, with its storage class. */
  readonly description?: ObjectDescription;
}

type CopyOutcome =
  | {
      readonly status: "copied";
      readonly source: DescribedObject;
      readonly object: DescribedObject;
    }
  /** There is no source. */
  | { readonly status: "missing" }
  /** The condition or the version of the source, or the condition of the target, does not hold. */
  | { readonly status: "refused" };

/** @throws StoreError, also for a source with a key of a customer: only its owner can copy the content */
export async function copyObject(
  source: VersionedSource,
  target: CopyTarget,
): Promise<CopyOutcome> {
  const { bucket, key, onlyIf, version } = source;
  const opened = await bucket.get({ key, ...(onlyIf !== undefined && { onlyIf }) });
  if (opened === null) return { status: "missing" };
  if (opened.status !== "found") return { status: "refused" };
  try {
    if (version !== undefined && opened.object.version !== version) return { status: "refused" };
    requireSameKey(opened.object, undefined);
    requireCopyable(opened.object);
    const stored = await store(opened, target);
    if (stored === null) return { status: "refused" };
    return { status: "copied", source: opened.object, object: decodeObject(target.key, stored) };
  } finally {
    new OpenedContent(opened).close();
  }
}

/** Before the content is read for nothing. A copy is one put, as on the deployed service. */
function requireCopyable({ size }: DescribedObject): void {
  if (size <= uploadBytesMax) return;
  throw new StoreError(
    100100,
    `The object has ${size} bytes. At most ${uploadBytesMax} bytes can be copied, moved, or get other ` +
      "metadata: upload the object again.",
  );
}

async function store(
  opened: FoundObject,
  { bucket, key, onlyIf, description }: CopyTarget,
): Promise<string | null> {
  const { http, custom, storageClass } = opened.object;
  const content = await bucket.copy(opened, algorithmsOf(allChecksums(opened.object)));
  return bucket.call({
    method: "put",
    key,
    ...(description ?? { http, custom, storageClass }),
    content,
    ...(onlyIf !== undefined && { onlyIf }),
  });
}
