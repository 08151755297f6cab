/**
 * The objects that a task is about, and what is done with them: copies, moves, deletions. A task leaves alone
 * what is replaced after its request, which the versions of the objects tell.
 */
import { algorithmsOf } from "../../http/headers.ts";
import type { Conditional } from "../../store/core/conditional.ts";
import { StoreError } from "../../store/core/errors.ts";
import { deleteKeysMax, listLimitMax, uploadBytesMax } from "../../store/core/limits.ts";
import { requireSameKey } from "../../store/core/metadata.ts";
import { allChecksums, decodeObject, decodeObjects } from "../../store/core/object.ts";
import type { DescribedObject, ObjectDescription } from "../../store/core/operations.ts";
import { deleteMoved } from "../../store/node/bucket-objects.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import type { CopyTask, ObjectSelection } from "../api/tasks.ts";
import { explained, quoted } from "./buckets.ts";
import { CallError } from "./call.ts";
import { OpenedContent } from "./content.ts";

export interface SelectedObject {
  readonly key: string;
  /** `null` for an object that cannot be read: its row is damaged. */
  readonly version: string | null;
}

/** What the work reports to its task. */
interface Progress {
  /** The work ends after its current object. */
  readonly isCancelled: boolean;
  succeed(objects?: number): void;
  fail(key: string, message: string): void;
}

/**
 * The selection without what is named twice: keys in selected folders, and folders in selected
 * folders.
 *
 * @throws CallError for a selection without objects, and for a folder without a name
 */
export function plainSelection<Selection extends Pick<ObjectSelection, "keys" | "prefixes">>(
  selection: Selection,
): Selection {
  const { keys, prefixes } = selection;
  if (keys.length === 0 && prefixes.length === 0) {
    throw new CallError(400, "The request names no objects and no folders.");
  }
  // All objects of a bucket would be below it: more than a person has selected.
  if (prefixes.includes("")) throw new CallError(400, "The name of a folder must not be empty.");
  const folders = new Set(prefixes);
  const isInside = (text: string, lengthMax: number): boolean => {
    for (let length = 1; folders.size > 0 && length <= lengthMax; length++) {
      if (folders.has(text.slice(0, length))) return true;
    }
    return false;
  };
  return {
    ...selection,
    keys: [...new Set(keys)].filter((key) => !isInside(key, key.length)),
    prefixes: [...folders].filter((prefix) => !isInside(prefix, prefix.length - 1)),
  };
}

/**
 * @param task with a plain selection
 * @returns the key of the copy of each object
 * @throws CallError when a target is its own source, when a folder would be in itself, and when two
 *   sources have one target
 */
export function copyTargets({ bucket, keys, prefixes, to, kind }: CopyTask) {
  const isSameBucket = bucket === to.bucket;
  const isSingle = keys.length === 1 && prefixes.length === 0;
  const targetOf = (source: string): string => (isSingle ? to.key : to.key + lastSegment(source));
  const taken = new Set<string>();
  for (const source of [...keys, ...prefixes]) {
    const target = targetOf(source);
    if (isSameBucket && target === source) {
      throw new CallError(409, `${quoted(source)} is there already. Choose another place.`);
    }
    if (taken.has(target)) {
      throw new CallError(
        409,
        `Two of the selected names end in "${lastSegment(source)}", and would both be ` +
          `${quoted(target)}. Choose one of them.`,
      );
    }
    taken.add(target);
    if (isSameBucket && prefixes.includes(source) && target.startsWith(source)) {
      const verb = kind === "copy" ? "copied" : "moved";
      throw new CallError(409, `The folder ${quoted(source)} cannot be ${verb} into itself.`);
    }
  }
  return (key: string): string => {
    const folder = prefixes.find((prefix) => key.startsWith(prefix));
    return folder === undefined ? targetOf(key) : targetOf(folder) + key.slice(folder.length);
  };
}

/** `c` of `a/b/c`, and `b/` of `a/b/`. */
export function lastSegment(path: string): string {
  return path.slice(path.replace(/\/$/, "").lastIndexOf("/") + 1);
}

/** Named keys are looked up in groups, which travel in few requests. */
const headsMax = 1000;

/**
 * @param progress ends the search early, with what was found so far
 * @returns the objects, and the named keys without an object
 */
export async function findSelected(
  bucket: Bucket,
  { keys, prefixes }: Pick<ObjectSelection, "keys" | "prefixes">,
  progress: Pick<Progress, "isCancelled">,
): Promise<{ readonly objects: readonly SelectedObject[]; readonly missing: readonly string[] }> {
  const objects: SelectedObject[] = [];
  const missing: string[] = [];
  for (let start = 0; start < keys.length && !progress.isCancelled; start += headsMax) {
    const group = keys.slice(start, start + headsMax);
    const versions = await currentVersions(bucket, group);
    for (const [index, key] of group.entries()) {
      const version = versions[index];
      if (version === undefined) missing.push(key);
      else objects.push({ key, version });
    }
  }
  for (const prefix of prefixes) {
    for await (const page of objectPages(bucket, prefix)) {
      if (progress.isCancelled) break;
      for (const { key, version } of page) objects.push({ key, version });
    }
  }
  return { objects, missing };
}

/**
 * All objects below a folder, in pages that are not empty. A list of a bucket on an S3 service has versions
 * only with metadata.
 */
export async function* objectPages(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<readonly { readonly key: string; readonly version: string }[], undefined> {
  let cursor: string | undefined;
  do {
    const page = await bucket.call({
      method: "list",
      prefix,
      delimiter: "",
      limit: listLimitMax,
      includeHttp: bucket.place !== undefined,
      includeCustom: false,
      ...(cursor !== undefined && { cursor }),
    });
    const objects = decodeObjects(page.objectsJson, { http: true, custom: false });
    if (objects.length > 0) yield objects;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** The version of each key: `undefined` without an object, `null` for an object that cannot be read. */
function currentVersions(
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

/** Deletes objects in groups. An object that was replaced after the request is left alone. */
export async function deleteObjects(
  bucket: Bucket,
  objects: readonly SelectedObject[],
  progress: Progress,
): Promise<void> {
  for (let start = 0; start < objects.length; start += deleteKeysMax) {
    if (progress.isCancelled) return;
    const group = objects.slice(start, start + deleteKeysMax);
    const names = group.map(({ key }) => key);
    const versions = await currentVersions(bucket, names);
    const keys: string[] = [];
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
    if (keys.length === 0) continue;
    try {
      await bucket.call({ method: "delete", keys });
      progress.succeed(keys.length);
    } catch (error) {
      for (const key of keys) progress.fail(key, (error as Error).message);
    }
  }
}

/** Objects that are copied at the same time: more do not make a disk faster. */
const concurrency = 8;

interface Transfer {
  readonly kind: "copy" | "move";
  readonly from: Bucket;
  readonly to: Bucket;
  readonly overwrite: boolean;
  targetOf(key: string): string;
}

/**
 * Copies objects, and moves them: a source is deleted after its copy is stored, and only if it is
 * still the object that was copied.
 */
export async function transferObjects(
  transfer: Transfer,
  objects: readonly SelectedObject[],
  progress: Progress,
): Promise<void> {
  const queue = objects.values();
  const work = async (): Promise<void> => {
    for (const { key } of queue) {
      if (progress.isCancelled) return;
      const target = transfer.targetOf(key);
      try {
        const failure = await transferObject(transfer, key, target);
        if (failure === null) progress.succeed();
        else progress.fail(key, failure);
      } catch (error) {
        progress.fail(key, (explained(error, { key: target }) as Error).message);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** @returns why the object is not copied or not moved; `null` after success */
async function transferObject(
  { kind, from, to, overwrite }: Transfer,
  key: string,
  target: string,
): Promise<string | null> {
  const exists = `An object ${quoted(target)} exists already, and is not replaced.`;
  // A large content would be copied for nothing.
  if (!overwrite && (await to.call({ method: "head", key: target })) !== null) return exists;
  const condition = overwrite ? {} : { onlyIf: onlyIfAbsent };
  const outcome = await copyObject(
    { bucket: from, key },
    { bucket: to, key: target, ...condition },
  );
  if (outcome.status === "missing") return "The object was deleted meanwhile.";
  if (outcome.status === "refused") return exists;
  if (kind === "copy" || (await deleteMoved(from, outcome.source))) return null;
  return (
    "The object was replaced while it was moved. Its earlier version is at " +
    `${quoted(target)}, and the new object stays where it is.`
  );
}

/** Holds only when no object has the key. */
export const onlyIfAbsent: Conditional = { etagDoesNotMatch: [{ kind: "any" }] };

interface CopyPlace {
  readonly bucket: Bucket;
  readonly key: string;
  readonly onlyIf?: Conditional;
}

interface CopySource extends CopyPlace {
  /** The copy is refused if the source has another version: metadata have no part in the etag. */
  readonly version?: string;
}

interface CopyTarget extends CopyPlace {
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
  /** A condition, or the version of the source, does not hold. */
  | { readonly status: "refused" };

/**
 * Copies an object within a bucket or to another bucket. A file whose checksums are known is copied
 * without a read (`Bucket.copy`).
 *
 * @throws StoreError, also for a source with a key of a customer: only its owner can copy the content
 */
export async function copyObject(source: CopySource, target: CopyTarget): Promise<CopyOutcome> {
  const { bucket, key, onlyIf, version } = source;
  const opened = await bucket.get({ key, ...(onlyIf !== undefined && { onlyIf }) });
  if (opened === null) return { status: "missing" };
  if (opened.status !== "found") return { status: "refused" };
  const { object } = opened;
  try {
    if (version !== undefined && object.version !== version) return { status: "refused" };
    requireSameKey(object, undefined);
    // Before the content is read for nothing. A copy is one put, as on the deployed service.
    if (object.size > uploadBytesMax) {
      throw new StoreError(
        100100,
        `The object has ${object.size} bytes. At most ${uploadBytesMax} bytes can be copied, moved, or ` +
          "get other metadata: upload the object again.",
      );
    }
    const { http, custom, storageClass } = object;
    const stored = await target.bucket.call({
      method: "put",
      key: target.key,
      ...(target.description ?? { http, custom, storageClass }),
      content: await target.bucket.copy(opened, algorithmsOf(allChecksums(object))),
      ...(target.onlyIf !== undefined && { onlyIf: target.onlyIf }),
    });
    if (stored === null) return { status: "refused" };
    return { status: "copied", source: object, object: decodeObject(target.key, stored) };
  } finally {
    new OpenedContent(opened).close();
  }
}
