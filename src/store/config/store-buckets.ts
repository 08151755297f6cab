/**
 * Buckets: the entries of `[[store_buckets]]`, and the options of the binding that the plugin
 * serves, which are made from those entries or written by hand.
 */
import * as v from "valibot";
import {
  booleanSchema,
  described,
  describeMistake,
  identifierSchema,
  integerSchema,
  isTable,
  listSchema,
  oneOfSchema,
  optional,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  type ReportMistake,
} from "../../base/schema.ts";
import { UserError } from "../../base/user-error.ts";
import { asciiHost } from "../../edge/core/route-pattern.ts";
import type { BucketSettings, StorageClass } from "../core/operations.ts";
import { remoteOptionSchema, type FindRemote, type ProjectRemote } from "./remotes.ts";

/** What a write that is acknowledged survives: the loss of power, or the end of every process only. */
type Durability = "power" | "process";

/** Which requests the S3-compatible API accepts, besides those that the deployed service accepts. */
export type S3Compatibility = "aws";

export interface BucketBinding {
  readonly binding: string;
  readonly bucketName: string;
  /** Replaces `bucketName` when the script runs locally, as wrangler does with R2. */
  readonly previewBucketName?: string;
  readonly storageClass?: StorageClass;
  readonly verifyReads?: boolean;
  /** Default: `power` */
  readonly durability?: Durability;
  readonly listTrailingDelimiter?: boolean;
  /** Whether anyone may read objects: at `NAME.store.localhost`, and by the S3-compatible API without a signature. */
  readonly public?: boolean;
  /** Default: what the deployed service refuses, the S3-compatible API refuses, too. */
  readonly s3Compatibility?: S3Compatibility;
  /** Names at which anyone may read objects, in lower case and punycode. */
  readonly domains?: readonly string[];
  /** The S3 service that has the bucket. Without it, the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
}

/** The options of a binding that the plugin serves. */
export interface BucketOptions extends Omit<
  BucketBinding,
  "binding" | "previewBucketName" | "domains"
> {
  readonly storageClass: StorageClass;
  /** Replaces the date of the script, for this binding. */
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  readonly latencyMilliseconds?: number;
  /** Whether the calls of the script are spans of its trace: a dev server with an explorer sets this. */
  readonly observed?: boolean;
}

/** A longer delay is a slip: no caller waits for so long. */
export const latencyMillisecondsMax = 60_000;

/**
 * A bucket's name is also the name of a folder, so characters that file systems reserve are not allowed.
 * Deviation: the deployed service takes 3 to 63 lower-case letters, digits and hyphens.
 */
const bucketNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export function isBucketName(name: string): boolean {
  return bucketNamePattern.test(name);
}

/** Why the deployed service refuses the name, by the rule of wrangler; `null` if it does not. */
export function deployProblem(name: string): string | null {
  if (/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) return null;
  return (
    `"${name}" works locally, but the deployed service refuses this name. There, a name has 3 to 63 ` +
    "lower-case letters, digits and hyphens, and begins and ends with a letter or a digit. This is said once"
  );
}

const bucketName = textMatchingSchema(
  bucketNamePattern,
  (name) =>
    `${JSON.stringify(name)} is not a valid bucket name. Use 1 to 63 letters, digits, ".", "_" ` +
    'and "-", beginning and ending with a letter or a digit',
);
const domain = textSchema(asciiHost, 'must be a name, such as "cdn.example.com"');
const storageClass = oneOfSchema<StorageClass>(["Standard", "InfrequentAccess"]);
const durability = oneOfSchema<Durability>(["power", "process"]);
const s3Compatibility = oneOfSchema<S3Compatibility>(["aws"]);
export const compatibilityDateSchema = textSchema(
  (day) => (/^\d{4}-\d{2}-\d{2}$/.test(day) && Date.parse(day) > 0 ? day : null),
  (day) => `must be a date in the form YYYY-MM-DD, not ${JSON.stringify(day)}`,
);
export const compatibilityFlagsSchema = listSchema(v.string("must be text"));
const optionalFlag = (description: string) =>
  v.optional(described(description, booleanSchema, { default: false }));

/** Keys that an entry of the list and the options of the plugin share. */
const commonEntries = {
  verify_reads: optionalFlag("Reads verify files by their hash."),
  durability: v.optional(
    described(
      "What a write that is acknowledged survives: the loss of power, or the end of every process only.",
      durability,
      { default: "power" },
    ),
  ),
  list_trailing_delimiter: optionalFlag(
    'Listed prefixes end with the delimiter, as in the deployed service: "trips/". The default is true ' +
      "for a binding that is also in r2_buckets.",
  ),
  public: optionalFlag(
    "Anyone may read objects: at BUCKET.store.localhost, and by the S3-compatible API without a signature.",
  ),
  s3_compatibility: optional(
    'What the S3-compatible API accepts. "aws": also conditions of UploadPartCopy and requests for tags, which ' +
      "newer clients of AWS send for copies in parts, and which the deployed service refuses.",
    s3Compatibility,
  ),
};

export const bucketsSchema = described(
  "Buckets of the store. A binding may also stand in r2_buckets: the store serves it locally, and a " +
    "deploy sees the other.",
  listSchema(
    tableSchema(
      {
        binding: described(
          "The name in env: env.PHOTOS. A JavaScript identifier.",
          identifierSchema,
        ),
        bucket_name: described("The name of the bucket.", bucketName),
        preview_bucket_name: optional(
          "The bucket for ledge dev, tests and getPlatformProxy(), in place of bucket_name.",
          bucketName,
        ),
        storage_class: v.optional(
          described("The class of objects that are stored without one.", storageClass, {
            default: "Standard",
          }),
        ),
        ...commonEntries,
        domains: optional(
          "Names of zones at which anyone may read objects: http://cdn.example.com.localhost:8787/KEY.",
          listSchema(domain),
        ),
        remote: optional(
          "The NAME of a table [remotes.NAME]: the S3 service that has the bucket. Without it, the " +
            "bucket is in the state folder.",
          v.string('must be the NAME of a table [remotes.NAME], as in "cluster"'),
        ),
      },
      { binding: "PHOTOS", bucket_name: "photos" },
    ),
    "must be a list: write [[store_buckets]], or a JSON array",
  ),
);

const optionsTable = tableSchema(
  {
    bucket_name: bucketName,
    storage_class: v.optional(storageClass, "Standard"),
    compatibility_date: v.optional(compatibilityDateSchema),
    compatibility_flags: v.optional(compatibilityFlagsSchema),
    latency_milliseconds: v.optional(integerSchema(0, latencyMillisecondsMax)),
    ...commonEntries,
    observed: v.optional(booleanSchema),
    remote: v.optional(remoteOptionSchema),
  },
  { bucket_name: "my-bucket" },
);

/**
 * @param deployed the bindings that are also in `r2_buckets`: a script sees the listings of the
 *   deployed service unless the bucket says otherwise
 * @returns the buckets; an empty list after a mistake
 */
export function readBuckets(
  given: unknown,
  deployed: ReadonlySet<string>,
  findRemote: FindRemote,
  report: ReportMistake,
): BucketBinding[] {
  const entries = parseValue(bucketsSchema, given, ["store_buckets"], report) ?? [];
  reportTwoPlaces(entries, report);
  return entries.map((bucket, index) => {
    const path = ["store_buckets", index];
    if (bucket.remote !== undefined && bucket.verify_reads === true) {
      report([...path, "verify_reads"], verifyReadsProblem);
    }
    if (bucket.remote !== undefined && bucket.durability !== undefined) {
      report([...path, "durability"], durabilityProblem);
    }
    const { binding, list_trailing_delimiter: ownDelimiter, remote } = bucket;
    return {
      binding,
      bucketName: bucket.bucket_name,
      previewBucketName: bucket.preview_bucket_name,
      storageClass: bucket.storage_class,
      verifyReads: bucket.verify_reads,
      durability: bucket.durability,
      listTrailingDelimiter: ownDelimiter ?? (deployed.has(binding) ? true : undefined),
      public: bucket.public,
      s3Compatibility: bucket.s3_compatibility,
      domains: bucket.domains,
      remote: remote === undefined ? undefined : findRemote(remote, [...path, "remote"]),
    };
  });
}

/** Commands, the explorer and the S3-compatible API find a bucket by its name, so a name has one place. */
function reportTwoPlaces(
  entries: v.InferOutput<typeof bucketsSchema>,
  report: ReportMistake,
): void {
  const first = new Map<string, (typeof entries)[number]>();
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

const durabilityProblem =
  "is for buckets in the state folder: the service of a remote bucket decides what its writes survive. Remove the key";

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
  const { remote, verify_reads: verifyReads } = parsed;
  if (remote !== undefined && verifyReads === true) {
    throw new UserError(`${subject} verify_reads ${verifyReadsProblem}.`);
  }
  if (remote !== undefined && parsed.durability !== undefined) {
    throw new UserError(`${subject} durability ${durabilityProblem}.`);
  }
  return {
    bucketName: parsed.bucket_name,
    storageClass: parsed.storage_class,
    compatibilityDate: parsed.compatibility_date,
    compatibilityFlags: parsed.compatibility_flags,
    latencyMilliseconds: parsed.latency_milliseconds,
    verifyReads,
    durability: parsed.durability,
    listTrailingDelimiter: parsed.list_trailing_delimiter,
    public: parsed.public,
    s3Compatibility: parsed.s3_compatibility,
    observed: parsed.observed,
    remote,
  };
}

/** Specification: `list()` honours `include` from this date on. */
const honorIncludeDate = "2022-08-04";
/** workerd's `capture_async_api_throws` is the default from this date on. */
const rejectBadArgumentsDate = "2022-10-31";
/** workerd's `rpc` is the default from this date on. */
const rpcDate = "2024-04-03";

const storeFlags = ["store_list_honor_include", "store_list_trailing_delimiter"] as const;

/**
 * Compatibility dates and flags that change the behaviour of buckets.
 *
 * The store's own flags start with `store_`. A script lists them among workerd's flags, but workerd
 * rejects flags that it does not know, so the plugin removes them before workerd reads the list.
 */
export function compatibilitySettings(
  date: string | undefined,
  flags: readonly string[],
): Omit<BucketSettings, "storageClass" | "allowUnsizedStreams"> {
  for (const flag of flags.filter(isStoreFlag)) {
    if (!(storeFlags as readonly string[]).includes(flag)) {
      throw new UserError(
        `Unknown compatibility flag "${flag}". Flags of store buckets are ` +
          `${storeFlags.join(" and ")}: correct or remove it.`,
      );
    }
  }
  const since = (start: string): boolean => date !== undefined && date >= start;
  return {
    honorInclude: since(honorIncludeDate) || flags.includes("store_list_honor_include"),
    trailingDelimiter: flags.includes("store_list_trailing_delimiter"),
    rejectBadArguments:
      (since(rejectBadArgumentsDate) || flags.includes("capture_async_api_throws")) &&
      !flags.includes("do_not_capture_async_api_throws"),
  };
}

/** workerd's `rpc`: whether a script can call methods of objects and services. */
export function hasRpc(date: string | undefined, flags: readonly string[]): boolean {
  return (date !== undefined && date >= rpcDate) || flags.includes("rpc");
}

export function isStoreFlag(flag: string): boolean {
  return flag.startsWith("store_");
}
