/** Objects that a test writes to a bucket and reads from it directly, without the script. */
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { StorageClass } from "./operations.ts";

/** An object that a test writes. */
export interface SeedObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly http?: HttpMetadata;
  readonly custom?: CustomMetadata;
  readonly storageClass?: StorageClass;
}

/** An object that a test reads. */
export type FixtureObject = Required<Omit<SeedObject, "storageClass">>;
