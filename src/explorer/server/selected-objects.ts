/** The objects that a task is about, with their versions: a task leaves alone what is replaced later. */
import { StoreError } from "../../store/core/errors.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import { decodeObject, decodeObjects } from "../../store/core/object.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import type { ObjectSelection } from "../api/tasks.ts";

export interface SelectedObject {
  readonly key: string;
  /** `null` for an object that cannot be read: its row is damaged. */
  readonly version: string | null;
}

interface FoundObjects {
  readonly objects: readonly SelectedObject[];
  /** Named keys without an object. */
  readonly missing: readonly string[];
}

/** Named keys are looked up in groups, which travel in few requests. */
const headsMax = 1000;

/** @param isStopped ends the search early, with what was found so far */
export async function findSelected(
  bucket: Bucket,
  { keys, prefixes }: ObjectSelection,
  isStopped: () => boolean,
): Promise<FoundObjects> {
  const objects: SelectedObject[] = [];
  const missing: string[] = [];
  for (let start = 0; start < keys.length && !isStopped(); start += headsMax) {
    const group = keys.slice(start, start + headsMax);
    const versions = await currentVersions(bucket, group);
    for (const [index, key] of group.entries()) {
      const version = versions[index];
      if (version === undefined) missing.push(key);
      else objects.push({ key, version });
    }
  }
  for (const prefix of prefixes) await findBelow(bucket, prefix, objects, isStopped);
  return { objects, missing };
}

/** The version of each key: `undefined` without an object, `null` for an object that cannot be read. */
export function currentVersions(
  bucket: Bucket,
  keys: readonly string[],
): Promise<(string | null | undefined)[]> {
  return Promise.all(
    keys.map(async (key) => {
      try {
        const found = await bucket.call({ method: "head", key });
        return found === null ? undefined : decodeObject(key, found).version;
      } catch (error) {
        if (error instanceof StoreError && error.code === 10001) return null;
        throw error;
      }
    }),
  );
}

async function findBelow(
  bucket: Bucket,
  prefix: string,
  objects: SelectedObject[],
  isStopped: () => boolean,
): Promise<void> {
  let cursor: string | undefined;
  do {
    if (isStopped()) return;
    const page = await bucket.call({
      method: "list",
      prefix,
      delimiter: "",
      limit: listLimitMax,
      includeHttp: false,
      includeCustom: false,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { key, version } of decodeObjects(page.objectsJson, {
      http: false,
      custom: false,
    })) {
      objects.push({ key, version });
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}
