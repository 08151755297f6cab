/** The options of a bucket's binding, checked. */
import { UserError } from "../base/user-error.ts";

export interface BucketOptions {
  readonly bucketName: string;
  readonly storageClass: "Standard" | "InfrequentAccess";
  /** Instead of the script's own, for this binding. */
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  /** How long each operation is held up, as a far-away store would. */
  readonly latencyMilliseconds?: number;
}

const knownOptions = [
  "bucket_name",
  "storage_class",
  "compatibility_date",
  "compatibility_flags",
  "latency_milliseconds",
] as const;

/** Longer than any answer anybody waits for; more is a slip. */
export const latencyMillisecondsMax = 60_000;

/** The name is a folder's name too, so it holds nothing that a file system takes otherwise. */
const bucketNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

export const bucketNameRule =
  'Use 1 to 63 letters, digits, ".", "_" and "-", beginning and ending with a letter or a digit.';

export function isBucketName(name: string): boolean {
  return bucketNamePattern.test(name);
}

export function parseBucketOptions(binding: string, options: unknown): BucketOptions {
  const fail = (problem: string): never => {
    throw new UserError(`Store bucket "${binding}": ${problem}`);
  };
  const isRecord = typeof options === "object" && options !== null;
  if (!isRecord) return fail('options are missing. Give at least { bucket_name: "my-bucket" }.');
  const given = options as Record<string, unknown>;

  const unknown = Object.keys(given).find((key) => !knownOptions.some((known) => known === key));
  if (unknown !== undefined) {
    return fail(`unknown option "${unknown}". Options are ${knownOptions.join(", ")}.`);
  }

  const {
    bucket_name: bucketName,
    storage_class: storageClass = "Standard",
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags,
    latency_milliseconds: latencyMilliseconds,
  } = given;
  if (typeof bucketName !== "string") {
    return fail(
      `bucket_name is ${bucketName === undefined ? "missing" : "not text"}. Name the bucket.`,
    );
  }
  if (!isBucketName(bucketName)) {
    return fail(`bucket_name "${bucketName}" is not valid. ${bucketNameRule}`);
  }
  if (storageClass !== "Standard" && storageClass !== "InfrequentAccess") {
    return fail(
      `storage_class ${JSON.stringify(storageClass)} is not valid. ` +
        'Use "Standard" or "InfrequentAccess".',
    );
  }
  if (compatibilityDate !== undefined && !isDate(compatibilityDate)) {
    return fail("compatibility_date is not a date in the form YYYY-MM-DD.");
  }
  if (compatibilityFlags !== undefined && !isTextList(compatibilityFlags)) {
    return fail("compatibility_flags is not a list of text.");
  }
  if (latencyMilliseconds !== undefined && !isLatency(latencyMilliseconds)) {
    return fail(`latency_milliseconds is not a whole number from 0 to ${latencyMillisecondsMax}.`);
  }
  return {
    bucketName,
    storageClass,
    ...(compatibilityDate !== undefined && { compatibilityDate }),
    ...(compatibilityFlags !== undefined && { compatibilityFlags }),
    ...(latencyMilliseconds !== undefined && { latencyMilliseconds }),
  };
}

function isDate(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && Date.parse(value) > 0;
}

export function isLatency(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= latencyMillisecondsMax;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
