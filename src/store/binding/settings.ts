import type { StorageClass } from "../core/operations.ts";

/** What the configuration and the script's compatibility settings say. */
export interface BucketSettings {
  readonly storageClass: StorageClass;
  /** `list` looks at `include`; without it, it returns all metadata. */
  readonly honorInclude: boolean;
  /** Delimited prefixes keep their delimiter. */
  readonly trailingDelimiter: boolean;
  /** Bad arguments reject; without it, they throw. */
  readonly rejectBadArguments: boolean;
  /** Deviation: streams whose length nobody knows are taken in Node, where there are no others. */
  readonly allowUnsizedStreams: boolean;
}
