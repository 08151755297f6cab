/**
 * Copies objects, and moves them: a source is deleted after its copy is stored, and only if it is
 * still the object that was copied.
 */
import { mapConcurrent } from "../../base/concurrency.ts";
import { decodeObject } from "../../store/core/object.ts";
import type { DescribedObject } from "../../store/core/operations.ts";
import { StoreError } from "../../store/core/errors.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { explained, quoted } from "./bucket-access.ts";
import { copyObject, onlyIfAbsent } from "./object-copy.ts";
import type { SelectedObject } from "./selected-objects.ts";
import type { TaskProgress } from "./task-progress.ts";

/** Objects that are copied at the same time: more do not make a disk faster. */
const concurrency = 8;

export interface Transfer {
  readonly kind: "copy" | "move";
  readonly from: Bucket;
  readonly to: Bucket;
  readonly overwrite: boolean;
  targetOf(key: string): string;
}

export async function transferObjects(
  transfer: Transfer,
  objects: readonly SelectedObject[],
  progress: TaskProgress,
): Promise<void> {
  await mapConcurrent(whileWanted(objects, progress), concurrency, async ({ key }) => {
    const target = transfer.targetOf(key);
    try {
      const failure = await transferObject(transfer, key, target);
      if (failure === null) progress.succeed();
      else progress.fail(key, failure);
    } catch (error) {
      progress.fail(key, (explained(error, { key: target }) as Error).message);
    }
  });
}

async function* whileWanted(
  objects: readonly SelectedObject[],
  progress: TaskProgress,
): AsyncGenerator<SelectedObject> {
  for (const object of objects) {
    if (progress.isCancelled) return;
    yield object;
  }
}

/** @returns why the object is not copied or not moved; `null` after success */
async function transferObject(
  { kind, from, to, overwrite }: Transfer,
  key: string,
  target: string,
): Promise<string | null> {
  // A large content would be copied for nothing.
  if (!overwrite && (await to.call({ method: "head", key: target })) !== null)
    return exists(target);
  const outcome = await copyObject(
    { bucket: from, key },
    { bucket: to, key: target, ...(!overwrite && { onlyIf: onlyIfAbsent }) },
  );
  if (outcome.status === "missing") return "The object was deleted meanwhile.";
  if (outcome.status === "refused") return exists(target);
  if (kind === "move" && !(await deleteSource(from, outcome.source))) {
    return (
      "The object was replaced while it was moved. Its earlier version is at " +
      `${quoted(target)}, and the new object stays where it is.`
    );
  }
  return null;
}

/** @returns false when another object has the key by now */
async function deleteSource(bucket: Bucket, copied: DescribedObject): Promise<boolean> {
  const { key, version, etag } = copied;
  const found = await bucket.call({ method: "head", key });
  if (found === null) return true;
  if (decodeObject(key, found).version !== version) return false;
  try {
    // The condition holds off what is stored between the two calls.
    const onlyIf = { etagMatches: [{ kind: "strong" as const, value: etag }] };
    await bucket.call({ method: "delete", keys: [key], onlyIf });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 10031) return false;
    throw error;
  }
}

function exists(target: string): string {
  return `An object ${quoted(target)} exists already, and is not replaced.`;
}
