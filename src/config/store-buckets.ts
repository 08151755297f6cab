/**
 * Buckets: the entries of `[[store_buckets]]`, and the options of the binding that the plugin
 * serves, which are made from those entries or written by hand.
 */
import * as v from "valibot";
import { UserError } from "../base/user-error.ts";
import type { StorageClass } from "../store/core/operations.ts";
import type { BindingNames } from "./binding-names.ts";
import { remoteOptionSchema, type ProjectRemote, type ProjectRemotes } from "./remotes.ts";
import {
  booleanSchema,
  describeMistake,
  identifierSchema,
  integerSchema,
  isTable,
  listSchema,
  oneOfSchema,
  parseValue,
  tableSchema,
  textSchema,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
  /** Replaces `bucketName` when the script runs locally, as wrangler does with R2. */
  readonly previewBucketName?: string;
  /** The class of objects that are written without a class. */
  readonly storageClass?: StorageClass;
  /** Whether reads verify files by their hash. */
  readonly verifyReads?: boolean;
  /** Whether listed prefixes end with the delimiter. */
  readonly listTrailingDelimiter?: boolean;
  /** Whether requests without a signature may read objects by the S3-compatible API. */
  readonly public?: boolean;
  /** The S3 service that has the bucket. Without it, the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
}

export interface BucketOptions {
  readonly bucketName: string;
  readonly storageClass: StorageClass;
  /** Replaces the date of the script, for this binding. */
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  /** The delay of each operation, to simulate a remote store. */
  readonly latencyMilliseconds?: number;
  /** Whether reads verify files by their hash. */
  readonly verifyReads?: boolean;
  /** Whether listed prefixes end with the delimiter. Replaces the script's compatibility flag. */
  readonly listTrailingDelimiter?: boolean;
  /** Whether requests without a signature may read objects by the S3-compatible API. */
  readonly public?: boolean;
  /** Whether the calls of the script are spans of its trace: a dev server with an explorer sets this. */
  readonly observed?: boolean;
  /** The S3 service that has the bucket. Without it, the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
}

/** A longer delay is a slip: no caller waits for so long. */
export const latencyMillisecondsMax = 60_000;

/**
 * A bucket's name is also the name of a folder, so characters that file systems reserve are not allowed.
 * Deviation: the deployed service takes 3 to 63 lower-case letters, digits and hyphens.
 */
export const bucketNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export function isBucketName(name: string): boolean {
  return bucketNamePattern.test(name);
}

const bucketName = textSchema(
  (name) => (isBucketName(name) ? name : null),
  (name) =>
    `${JSON.stringify(name)} is not a valid bucket name. Use 1 to 63 letters, digits, ".", "_" ` +
    'and "-", beginning and ending with a letter or a digit',
);
const storageClass = oneOfSchema<StorageClass>(["Standard", "InfrequentAccess"]);
const date = textSchema(
  (day) => (/^\d{4}-\d{2}-\d{2}$/.test(day) && Date.parse(day) > 0 ? day : null),
  "must be a date in the form YYYY-MM-DD",
);

const bucketEntries = {
  binding: identifierSchema,
  bucket_name: bucketName,
  preview_bucket_name: v.optional(bucketName),
  storage_class: v.optional(storageClass),
  verify_reads: v.optional(booleanSchema),
  list_trailing_delimiter: v.optional(booleanSchema),
  public: v.optional(booleanSchema),
  remote: v.optional(v.string('must be the NAME of a table [remotes.NAME], as in "cluster"')),
};

export const bucketKeys: readonly string[] = Object.keys(bucketEntries);

const buckets = listSchema(
  tableSchema(bucketEntries, { binding: "PHOTOS", bucket_name: "photos" }),
  "must be a list: write [[store_buckets]], or a JSON array",
);

const optionsTable = tableSchema(
  {
    bucket_name: bucketName,
    storage_class: v.optional(storageClass, "Standard"),
    compatibility_date: v.optional(date),
    compatibility_flags: v.optional(listSchema(v.string("must be text"))),
    latency_milliseconds: v.optional(integerSchema(0, latencyMillisecondsMax)),
    verify_reads: v.optional(booleanSchema),
    list_trailing_delimiter: v.optional(booleanSchema),
    public: v.optional(booleanSchema),
    observed: v.optional(booleanSchema),
    remote: v.optional(remoteOptionSchema),
  },
  { bucket_name: "my-bucket" },
);

/**
 * @param table the table of the environment
 * @param names the names in the environment's `env`; the names of the buckets are added
 * @param deployed the bindings that are also in `r2_buckets`: a script sees the listings of the
 *   deployed service unless the bucket says otherwise
 * @param remotes the S3 services that buckets can name
 * @returns the buckets; an empty list after a mistake
 */
export function readBuckets(
  { store_buckets: given = [] }: Table,
  names: BindingNames,
  deployed: ReadonlySet<string>,
  remotes: ProjectRemotes,
  report: ReportMistake,
): BucketBinding[] {
  const parsed = parseValue(buckets, given, ["store_buckets"], report);
  const entries: unknown[] = Array.isArray(given) ? given : [];
  for (const [index, entry] of entries.entries()) {
    if (isTable(entry)) names.claim(entry["binding"], ["store_buckets", index, "binding"], report);
  }
  reportTwoPlaces(parsed ?? [], report);
  return (parsed ?? []).map((bucket, index) => {
    const path = ["store_buckets", index];
    const remote =
      bucket.remote === undefined ? undefined : remotes.find(bucket.remote, [...path, "remote"]);
    if (bucket.remote !== undefined && bucket.verify_reads === true) {
      report([...path, "verify_reads"], verifyReadsProblem);
    }
    const { binding, preview_bucket_name: preview, storage_class: ownClass } = bucket;
    const { verify_reads: verifyReads, list_trailing_delimiter: ownDelimiter } = bucket;
    const listTrailingDelimiter = ownDelimiter ?? (deployed.has(binding) ? true : undefined);
    return {
      binding,
      bucketName: bucket.bucket_name,
      ...(preview !== undefined && { previewBucketName: preview }),
      ...(ownClass !== undefined && { storageClass: ownClass }),
      ...(verifyReads !== undefined && { verifyReads }),
      ...(listTrailingDelimiter !== undefined && { listTrailingDelimiter }),
      ...(bucket.public !== undefined && { public: bucket.public }),
      ...(remote !== undefined && { remote }),
    };
  });
}

/** Commands, the explorer and the S3-compatible API find a bucket by its name, so a name has one place. */
function reportTwoPlaces(
  entries: readonly {
    readonly binding: string;
    readonly bucket_name: string;
    readonly preview_bucket_name?: string | undefined;
    readonly remote?: string | undefined;
  }[],
  report: ReportMistake,
): void {
  const first = new Map<
    string,
    { readonly binding: string; readonly remote?: string | undefined }
  >();
  for (const [index, entry] of entries.entries()) {
    const key = entry.preview_bucket_name === undefined ? "bucket_name" : "preview_bucket_name";
    const name = entry.preview_bucket_name ?? entry.bucket_name;
    const known = first.get(name);
    if (known === undefined) first.set(name, entry);
    else if (known.remote !== entry.remote) {
      const problem = twoPlacesProblem(name, entry.remote, known);
      report(["store_buckets", index, key], `${problem}. Use another name, or the same remote`);
    }
  }
}

/** @param known the binding that has the name already */
export function twoPlacesProblem(
  name: string,
  remote: string | undefined,
  known: { readonly binding: string; readonly remote?: string | undefined },
): string {
  return (
    `"${name}" is the name of two buckets: this bucket is ${placeText(remote)}, and ` +
    `the bucket of ${known.binding} is ${placeText(known.remote)}`
  );
}

function placeText(remote: string | undefined): string {
  return remote === undefined ? "in the state folder" : `on the remote "${remote}"`;
}

const verifyReadsProblem =
  "is for buckets in the state folder: the content of a remote bucket is verified by its service. Remove the key";

/** @throws UserError with every mistake of the options of `binding` */
export function parseBucketOptions(binding: string, options: unknown): BucketOptions {
  const subject = `Store bucket "${binding}":`;
  if (!isTable(options)) {
    throw new UserError(
      `${subject} options are missing. Give at least { bucket_name: "my-bucket" }.`,
    );
  }
  // An option that is undefined counts as absent.
  const given = Object.entries(options).filter(([, option]) => option !== undefined);
  const problems: string[] = [];
  const parsed = parseValue(optionsTable, Object.fromEntries(given), [], (path, problem) => {
    problems.push(`${subject} ${describeMistake({ path, problem })}`);
  });
  if (parsed === null) throw new UserError(problems.join("\n"));
  const {
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags,
    latency_milliseconds: latencyMilliseconds,
    verify_reads: verifyReads,
    list_trailing_delimiter: listTrailingDelimiter,
    public: isPublic,
    observed,
    remote,
  } = parsed;
  if (remote !== undefined && verifyReads === true) {
    throw new UserError(`${subject} verify_reads ${verifyReadsProblem}.`);
  }
  return {
    bucketName: parsed.bucket_name,
    storageClass: parsed.storage_class,
    ...(compatibilityDate !== undefined && { compatibilityDate }),
    ...(compatibilityFlags !== undefined && { compatibilityFlags }),
    ...(latencyMilliseconds !== undefined && { latencyMilliseconds }),
    ...(verifyReads !== undefined && { verifyReads }),
    ...(listTrailingDelimiter !== undefined && { listTrailingDelimiter }),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(observed !== undefined && { observed }),
    ...(remote !== undefined && { remote }),
  };
}
