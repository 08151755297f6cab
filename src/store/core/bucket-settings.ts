import type { StorageClass } from "./operations.ts";

/** The settings of a binding: from its configuration, and from the script's compatibility settings. */
export interface BucketSettings {
  readonly storageClass: StorageClass;
  /** `true`: `list` follows `include`. `false`: `list` returns all metadata. */
  readonly honorInclude: boolean;
  /** `true`: delimited prefixes keep their delimiter. */
  readonly trailingDelimiter: boolean;
  /** `true`: bad arguments reject. `false`: bad arguments throw. */
  readonly rejectBadArguments: boolean;
  /** Deviation: Node accepts streams of unknown length, because no stream in Node has a known length. */
  readonly allowUnsizedStreams: boolean;
}
