/**
 * `r2_buckets`: the buckets of the deployed script, which the store can serve locally.
 *
 * The store serves a bucket of this list if `store_buckets` has its binding too, or if the project
 * is adopted: then the store serves the whole list, and the configuration file needs no edit. A
 * deploy sees the list as it was written. A bucket with `remote` stays wrangler's: its user asked for
 * the deployed objects.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isTable, type ReportMistake, type Table } from "../base/schema.ts";
import { shownPath } from "./config-file.ts";
import {
  isBucketName,
  twoPlacesProblem,
  type BucketBinding,
} from "../store/config/store-buckets.ts";

interface DeployedBucket {
  readonly index: number;
  readonly binding: string;
  /** wrangler creates the bucket at the deploy if its name is missing. */
  readonly bucketName: string | undefined;
  readonly previewBucketName: string | undefined;
  readonly isRemote: boolean;
}

/** @param table the table of an environment */
export function deployedBuckets({ r2_buckets: given }: Table): DeployedBucket[] {
  const entries: unknown[] = Array.isArray(given) ? given : [];
  return entries.flatMap((entry, index) => {
    if (!isTable(entry) || typeof entry["binding"] !== "string") return [];
    return {
      index,
      binding: entry["binding"],
      bucketName: text(entry["bucket_name"]),
      previewBucketName: text(entry["preview_bucket_name"]),
      isRemote: entry["remote"] === true || entry["experimental_remote"] === true,
    };
  });
}

/**
 * The buckets of the list that the store serves when the project is adopted. They list prefixes as
 * the deployed service does.
 *
 * @param own the buckets of `store_buckets`
 */
export function adoptBuckets(
  table: Table,
  own: readonly (Pick<BucketBinding, "binding"> & Partial<BucketBinding>)[],
  report: ReportMistake,
): BucketBinding[] {
  const taken = new Set(own.map(({ binding }) => binding));
  const onRemotes = own.filter(({ remote }) => remote !== undefined);
  return deployedBuckets(table).flatMap((bucket) => {
    const { index, binding, previewBucketName, isRemote } = bucket;
    if (isRemote || taken.has(binding)) return [];
    // The simulator, too, uses the binding as the name of a bucket without a name.
    const bucketName = bucket.bucketName ?? binding;
    const bad = [bucketName, previewBucketName].find(
      (name) => name !== undefined && !isBucketName(name),
    );
    if (bad !== undefined) {
      report(
        ["r2_buckets", index],
        `cannot be adopted: "${bad}" is not a valid bucket name. Add bucket_name, as in "photos"`,
      );
      return [];
    }
    const name = previewBucketName ?? bucketName;
    const known = onRemotes.find((each) => (each.previewBucketName ?? each.bucketName) === name);
    if (known !== undefined) {
      const problem = twoPlacesProblem(name, undefined, { ...known, remote: known.remote?.name });
      report(
        ["r2_buckets", index],
        `cannot be adopted: ${problem}. Add another preview_bucket_name`,
      );
      return [];
    }
    return {
      binding,
      bucketName,
      previewBucketName,
      listTrailingDelimiter: true,
    };
  });
}

/**
 * The names of the buckets that have objects in wrangler's simulator.
 *
 * @param folder where the simulator keeps its objects
 */
export function simulatedBuckets(
  folder: string,
  buckets: readonly Pick<BucketBinding, "bucketName" | "previewBucketName">[],
): string[] {
  const names = buckets.map((each) => each.previewBucketName ?? each.bucketName);
  return [...new Set(names)].filter((name) => {
    try {
      return readdirSync(join(folder, name, "blobs")).length > 0;
    } catch {
      return false;
    }
  });
}

/**
 * What to tell the user of the simulator: that it serves buckets which the store could serve, or that it has objects of
 * buckets which the store serves now.
 *
 * @param adopting the way to adopt the buckets; `null` when the project is adopted
 * @param folder where the simulator keeps its objects; `null` when that is not known
 */
export function simulatorNews(
  { table, buckets }: { readonly table: Table; readonly buckets: readonly BucketBinding[] },
  adopting: string | null,
  folder: string | null,
): string[] {
  if (adopting !== null) {
    const names = unservedBuckets(table, buckets);
    if (names.length === 0) return [];
    return [
      `wrangler's simulator serves ${names.join(", ")} of r2_buckets. ${adopting} serves them by ` +
        'the store, and "ledge init" makes that the project\'s choice.',
    ];
  }
  const names = folder === null ? [] : simulatedBuckets(folder, buckets);
  if (folder === null || names.length === 0) return [];
  return [
    `wrangler's simulator has objects of ${names.join(", ")} in ${shownPath(folder)}, which the ` +
      'store does not serve. "ledge init --copy-objects" copies those that the store lacks.',
  ];
}

/** The bindings of the list that the store could serve, and does not. */
export function unservedBuckets(
  table: Table,
  served: readonly Pick<BucketBinding, "binding">[],
): string[] {
  const names = new Set(served.map(({ binding }) => binding));
  return deployedBuckets(table)
    .filter(({ binding, isRemote }) => !isRemote && !names.has(binding))
    .map(({ binding }) => binding);
}

/** The table without the buckets that the store serves, for a tool that would serve them too. */
export function withoutServedBuckets<Given extends { readonly r2_buckets?: unknown }>(
  table: Given,
  served: readonly BucketBinding[],
): Given {
  if (!Array.isArray(table.r2_buckets)) return table;
  const names = new Set(served.map(({ binding }) => binding));
  const others = table.r2_buckets.filter(
    (entry: unknown) => !isTable(entry) || !names.has(entry["binding"] as string),
  );
  return { ...table, r2_buckets: others };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
