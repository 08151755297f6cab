/** `store_buckets`: the buckets of a script, each with the name that `env` has for it. */
import { bucketNameRule, isBucketName } from "../plugin/bucket-options.ts";
import type { BoundNames } from "./bound-names.ts";
import { isTable, type Table } from "./config-file.ts";
import { isIdentifier, notIdentifier } from "./identifier.ts";
import { kindOf, sentence, type Report } from "./mistakes.ts";
import { nearest, unknownKey } from "./nearest.ts";
import type { Path } from "./place.ts";

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
  /** Instead of `bucketName` when the script runs locally, as wrangler does with R2. */
  readonly previewBucketName?: string;
  /** Of objects that name none. */
  readonly storageClass?: "Standard" | "InfrequentAccess";
}

const knownKeys = ["binding", "bucket_name", "preview_bucket_name", "storage_class"];

/**
 * @param table what holds for the environment
 * @param names of the environment, to which the buckets' are added
 * @param report takes each mistake; a bucket with one is left out of the result
 */
export function readBuckets(table: Table, names: BoundNames, report: Report): BucketBinding[] {
  const { store_buckets: given = [] } = table;
  if (!Array.isArray(given)) {
    report(["store_buckets"], "must be a list: write [[store_buckets]], or a JSON array.");
    return [];
  }
  const buckets: BucketBinding[] = [];
  for (const [index, entry] of given.entries()) {
    const path = ["store_buckets", index];
    const bucket = readBucket(entry, path, report);
    if (bucket === null) continue;
    const taken = names.claim(bucket.binding, [...path, "binding"]);
    if (taken === null) buckets.push(bucket);
    else report([...path, "binding"], taken);
  }
  return buckets;
}

function readBucket(entry: unknown, path: Path, report: Report): BucketBinding | null {
  if (!isTable(entry)) {
    report(path, 'must be a table with "binding" and "bucket_name".');
    return null;
  }
  let sound = true;
  const fail = (key: string, problem: string): void => {
    sound = false;
    report([...path, key], problem);
  };
  for (const key of Object.keys(entry)) {
    if (!knownKeys.includes(key)) fail(key, sentence(unknownKey(key, knownKeys)));
  }
  const misspelt = (key: string): boolean =>
    Object.keys(entry).some((given) => nearest(given, knownKeys) === key);
  for (const [key, example] of [
    ["binding", '"PHOTOS"'],
    ["bucket_name", '"photos"'],
  ] as const) {
    if (entry[key] !== undefined || misspelt(key)) continue;
    fail(key, `is missing. Add it, as in ${example}.`);
  }

  const { binding, bucket_name: bucketName, preview_bucket_name: previewBucketName } = entry;
  if (binding !== undefined) {
    if (typeof binding !== "string") fail("binding", `must be text, not ${kindOf(binding)}.`);
    else if (!isIdentifier(binding)) fail("binding", notIdentifier(binding));
  }
  for (const [key, name] of Object.entries({
    bucket_name: bucketName,
    preview_bucket_name: previewBucketName,
  })) {
    if (name === undefined) continue;
    if (typeof name !== "string") fail(key, `must be text, not ${kindOf(name)}.`);
    else if (!isBucketName(name)) {
      fail(key, `${JSON.stringify(name)} is not a name for a bucket. ${bucketNameRule}`);
    }
  }
  const { storage_class: storageClass } = entry;
  if (
    storageClass !== undefined &&
    storageClass !== "Standard" &&
    storageClass !== "InfrequentAccess"
  ) {
    fail(
      "storage_class",
      `must be "Standard" or "InfrequentAccess", not ${JSON.stringify(storageClass)}.`,
    );
  }
  if (!sound) return null;
  return {
    binding: binding as string,
    bucketName: bucketName as string,
    ...(previewBucketName !== undefined && { previewBucketName: previewBucketName as string }),
    ...(storageClass !== undefined && { storageClass: storageClass as "Standard" }),
  };
}
