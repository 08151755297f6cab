/** Deletes objects in groups. An object that was replaced after the request is left alone. */
import { deleteKeysMax } from "../../store/core/limits.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { currentVersions, type SelectedObject } from "./selected-objects.ts";
import type { TaskProgress } from "./task-progress.ts";

export async function deleteObjects(
  bucket: Bucket,
  objects: readonly SelectedObject[],
  progress: TaskProgress,
): Promise<void> {
  for (let start = 0; start < objects.length; start += deleteKeysMax) {
    if (progress.isCancelled) return;
    await deleteGroup(bucket, objects.slice(start, start + deleteKeysMax), progress);
  }
}

async function deleteGroup(
  bucket: Bucket,
  group: readonly SelectedObject[],
  progress: TaskProgress,
): Promise<void> {
  const keys: string[] = [];
  const versions = await currentVersions(
    bucket,
    group.map(({ key }) => key),
  );
  for (const [index, { key, version }] of group.entries()) {
    const current = versions[index];
    // Another program has deleted the object.
    if (current === undefined) progress.succeed();
    else if (current === version) keys.push(key);
    else if (current === null || version === null) {
      progress.fail(
        key,
        "The object could not be read, so it may be another one: it is not deleted.",
      );
    } else {
      progress.fail(key, "The object was replaced after the request, and is not deleted.");
    }
  }
  if (keys.length === 0) return;
  try {
    await bucket.call({ method: "delete", keys });
    progress.succeed(keys.length);
  } catch (error) {
    for (const key of keys) progress.fail(key, (error as Error).message);
  }
}
