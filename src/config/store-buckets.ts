/** `store_buckets`: the buckets of a script, each with the name that `env` has for it. */
import { bucketNameRule, isBucketName } from "./bucket-options.ts";
import type { BoundNames } from "./bound-names.ts";
import { isTable, type Table } from "./config-file.ts";
import { isIdentifier, notIdentifier } from "./identifier.ts";
import { kindOf, sentence, type Report } from "./mistakes.ts";
import { nearest, unknownKey } from "../base/nearest.ts";
import type { Path } from "./place.ts";

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
  /** Instead of `bucketName` when the script runs locally, as wrangler does with R2. */
  readonly previewBucketName?: string;
  /** Of objects that name none. */
  readonly storageClass?: "Standard" | "InfrequentAccess";
}

/** What is wrong with the value of a key; `null` when nothing is. */
const rules: Readonly<Record<string, (value: unknown) => string | null>> = {
  binding: text((name) => (isIdentifier(name) ? null : notIdentifier(name))),
  bucket_name: text(bucketName),
  preview_bucket_name: text(bucketName),
  storage_class: (value) =>
    value === "Standard" || value === "InfrequentAccess"
      ? null
      : `must be "Standard" or "InfrequentAccess", not ${JSON.stringify(value)}.`,
};

export const bucketKeys: readonly string[] = Object.keys(rules);

/** Those that a bucket needs, with an example. */
const neededKeys = { binding: "PHOTOS", bucket_name: "photos" };

/**
 * @param table what holds for the environment
 * @param names of the environment, to which the buckets' are added
 * @param report takes each mistake; after one, the result is of no use
 */
export function readBuckets(table: Table, names: BoundNames, report: Report): BucketBinding[] {
  const { store_buckets: given = [] } = table;
  if (!Array.isArray(given)) {
    report(["store_buckets"], "must be a list: write [[store_buckets]], or a JSON array.");
    return [];
  }
  return given.flatMap((entry: unknown, index) => {
    const path = ["store_buckets", index];
    if (!isTable(entry)) {
      report(path, 'must be a table with "binding" and "bucket_name".');
      return [];
    }
    checkBucket(entry, path, names, report);
    return [bucketBinding(entry)];
  });
}

function checkBucket(entry: Table, path: Path, names: BoundNames, report: Report): void {
  const given = Object.keys(entry);
  for (const key of given) {
    const problem = Object.hasOwn(rules, key)
      ? rules[key]!(entry[key])
      : sentence(unknownKey(key, bucketKeys));
    if (problem !== null) report([...path, key], problem);
  }
  for (const [key, example] of Object.entries(neededKeys)) {
    // One that is misspelt has been reported as such.
    if (given.some((word) => nearest(word, bucketKeys) === key)) continue;
    report([...path, key], `is missing. Add it, as in "${example}".`);
  }
  const { binding } = entry;
  if (typeof binding !== "string" || !isIdentifier(binding)) return;
  const taken = names.claim(binding, [...path, "binding"]);
  if (taken !== null) report([...path, "binding"], taken);
}

function bucketBinding(entry: Table): BucketBinding {
  const { preview_bucket_name: previewBucketName, storage_class: storageClass } = entry;
  return {
    binding: entry["binding"],
    bucketName: entry["bucket_name"],
    ...(previewBucketName !== undefined && { previewBucketName }),
    ...(storageClass !== undefined && { storageClass }),
  } as BucketBinding;
}

function text(check: (value: string) => string | null): (value: unknown) => string | null {
  return (value) =>
    typeof value === "string" ? check(value) : `must be text, not ${kindOf(value)}.`;
}

function bucketName(name: string): string | null {
  if (isBucketName(name)) return null;
  return `${JSON.stringify(name)} is not a name for a bucket. ${bucketNameRule}`;
}
